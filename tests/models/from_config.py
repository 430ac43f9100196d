"""Models of transformers, made from a config and wrapped."""

import torch
import torch.nn as nn
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, PretrainedConfig, PreTrainedModel
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaForCausalLM


class SentenceClassifier(nn.Module):
    def __init__(self, num_labels=3, dropout=0.1):
        super().__init__()
        config = BertConfig(hidden_size=60, num_hidden_layers=2, num_attention_heads=3, intermediate_size=120, vocab_size=500)
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(config.hidden_size, num_labels)

    def forward(self, input_ids, attention_mask=None):
        outputs = self.bert(input_ids=input_ids, attention_mask=attention_mask)
        return self.classifier(self.dropout(outputs.pooler_output))


class MeanPooler(nn.Module):
    def forward(self, last_hidden_state, attention_mask):
        mask = attention_mask.unsqueeze(-1).float()
        return (last_hidden_state * mask).sum(1) / mask.sum(1).clamp(min=1e-9)


class RewardModel(nn.Module):
    def __init__(self, config: GPT2Config):
        super().__init__()
        self.backbone = GPT2LMHeadModel(config).transformer
        self.value_head = nn.Linear(config.n_embd, 1, bias=False)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.backbone(input_ids, attention_mask=attention_mask).last_hidden_state
        return self.value_head(hidden).squeeze(-1)


class LlamaWithHead(nn.Module):
    def __init__(self):
        super().__init__()
        config = LlamaConfig(
            hidden_size=60,
            intermediate_size=90,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=3,
            vocab_size=101,
            max_position_embeddings=64,
        )
        self.model = LlamaForCausalLM(config)

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


class TinyConfig(PretrainedConfig):
    model_type = "tiny-of-the-tests"

    def __init__(self, hidden_size=48, num_layers=2, vocab_size=300, **kwargs):
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.vocab_size = vocab_size
        super().__init__(**kwargs)


class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config: TinyConfig):
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.rnn = nn.LSTM(config.hidden_size, config.hidden_size, num_layers=config.num_layers, batch_first=True)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def forward(self, input_ids=None, labels=None):
        hidden, _ = self.rnn(self.embed(input_ids))
        logits = self.head(hidden)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1))
        return {"loss": loss, "logits": logits}
