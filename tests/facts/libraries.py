"""What library functions return and do is data: kinds, states, what is called back, and what nobody knows of."""
import numpy as np
import torch
import torch.nn.functional as F
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BitsAndBytesConfig,
    GPT2LMHeadModel,
    LlamaForCausalLM,
)

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
model(1)  # fact: loaded as `gpt2`; is in evaluation mode yes; dtype unknown
BertModel(BertConfig())(1)  # fact: is in evaluation mode no; device cpu
LlamaForCausalLM.from_pretrained(unknown)(1)  # fact: is in evaluation mode yes; dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)(1)  # fact: dtype bfloat16
AutoModelForCausalLM.from_pretrained("gpt2", dtype="float16")(1)  # fact: dtype float16
AutoModelForCausalLM.from_pretrained("gpt2", dtype="auto")(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")(1)  # fact: device auto
AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=BitsAndBytesConfig(load_in_4bit=True))(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", **unknown)(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2").half().cuda()(1)  # fact: dtype float16; device cuda
AutoModelForCausalLM.from_pretrained("gpt2").to("cuda", torch.float16)(1)  # fact: dtype float16; device cuda
AutoModelForCausalLM.from_pretrained("gpt2").to(unknown)(1)  # fact: device unknown; dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).float()(1)  # fact: dtype float32
print(tokenizer)  # fact: passed transformers.AutoTokenizer of line 17
print(tokenizer("text"))  # fact: passed some transformers.BatchEncoding
print(tokenizer.encode("text"))  # fact: passed some transformers.BatchEncoding
print(tokenizer.decode([1]))  # fact: passed unknown
print(tokenizer.pad_token_id)  # fact: passed `transformers.AutoTokenizer.pad_token_id` from outside
print(SentenceTransformer("all-MiniLM-L6-v2"))  # fact: passed sentence_transformers.SentenceTransformer of line 37
print(torch.device("cuda"))  # fact: passed some torch.device
print(nn.Linear(1, 1))  # fact: passed torch.nn.Linear of line 39
print(torch.zeros(1))  # fact: passed some torch.zeros
print(np.array([1]))  # fact: passed some numpy.array
print(F.softmax(torch.zeros(1)))  # fact: passed some torch.nn.functional.softmax
print(company.load())  # fact: passed unknown
print(torch.load("x"))  # fact: passed some torch.load
optimizer = torch.optim.AdamW(model.parameters())
print(optimizer)  # fact: passed torch.optim.AdamW of line 45
print(model.config)  # fact: passed `transformers.GPT2LMHeadModel.config` from outside
print(model.generate(1))  # fact: passed unknown
print(model.unknown_method())  # fact: passed unknown
print(unknown.from_pretrained("gpt2"))  # fact: passed unknown
# ==================================================
"""What processors hold and give, what loaders give of a dataset's ids, what is loaded from two checkpoints."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoProcessor, AutoTokenizer, EncoderDecoderModel, WhisperForConditionalGeneration

processor = AutoProcessor.from_pretrained("openai/whisper-tiny")
print(processor.tokenizer("text"))  # fact: passed some transformers.BatchEncoding
print(processor.tokenizer.pad([row]))  # fact: passed some transformers.BatchEncoding
print(processor.feature_extractor.pad([row]))  # fact: passed unknown
print(processor(text="text").input_ids)  # fact: passed some transformers.BatchEncoding
print(processor(sound).input_features)  # fact: passed some transformers.BatchFeature.input_features
print(company.tokenizer("text"))  # fact: passed unknown
whisper = WhisperForConditionalGeneration.from_pretrained("openai/whisper-tiny", device_map=None)
print(whisper(1))
whisper(2)  # fact: device cpu
pair = EncoderDecoderModel.from_encoder_decoder_pretrained("bert-base-cased", "bert-base-cased")
pair(3)  # fact: of transformers.EncoderDecoderModel of line 67; dtype unknown; is in evaluation mode unknown


class Rows(Dataset):
    def __init__(self, texts):
        self.ids = [torch.tensor(AutoTokenizer.from_pretrained("gpt2")(text)["input_ids"]) for text in texts]

    def __getitem__(self, index):
        return self.ids[index]


for batch in DataLoader(Rows(texts), batch_size=8):
    print(batch)  # fact: passed some transformers.BatchEncoding
for batch in DataLoader(Rows(texts), batch_size=8, collate_fn=company.collate):
    print(batch)  # fact: passed unknown
for batch in DataLoader(company.rows, batch_size=8):
    print(batch)  # fact: passed unknown
