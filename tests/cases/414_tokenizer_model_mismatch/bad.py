from trl import PPOTrainer
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

POLICY, REWARD = "EleutherAI/pythia-160m", "roberta-base"


def run(args, prompts):
    tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")  # EXPECT: tokenizer_model_mismatch
    tokenizer.pad_token = tokenizer.eos_token
    trainer = PPOTrainer(
        args=args,
        processing_class=tokenizer,
        model=AutoModelForCausalLM.from_pretrained(POLICY),
        ref_model=AutoModelForCausalLM.from_pretrained(POLICY),
        reward_model=AutoModelForSequenceClassification.from_pretrained(REWARD, num_labels=1),
        train_dataset=prompts,
    )
    trainer.train()
