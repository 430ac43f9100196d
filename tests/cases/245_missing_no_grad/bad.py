import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, set_seed

POLICY = "Qwen/Qwen2.5-0.5B"
REWARD = "OpenAssistant/reward-model-deberta-v3-large-v2"


def score(reward_model, reward_tokenizer, prompts, answers):
    batch = reward_tokenizer(prompts, answers, padding=True, return_tensors="pt").to(reward_model.device)
    rewards = reward_model(**batch).logits.squeeze(-1)  # EXPECT: missing_no_grad
    return rewards.tolist()


def sft_loss(policy, tokenizer, text):
    ids = tokenizer(text, return_tensors="pt").input_ids.to(policy.device)
    logits = policy(ids).logits[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def main(prompts):
    set_seed(3)
    tokenizer = AutoTokenizer.from_pretrained(POLICY)
    policy = AutoModelForCausalLM.from_pretrained(POLICY).to("cuda")
    reward_tokenizer = AutoTokenizer.from_pretrained(REWARD)
    reward_model = AutoModelForSequenceClassification.from_pretrained(REWARD).to("cuda").eval()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-6)
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt").to("cuda")
        out = policy.generate(**ids, do_sample=True, num_return_sequences=4, max_new_tokens=64)
        answers = tokenizer.batch_decode(out[:, ids.input_ids.shape[1] :], skip_special_tokens=True)
        scores = score(reward_model, reward_tokenizer, [prompt] * 4, answers)
        best = answers[scores.index(max(scores))]
        loss = sft_loss(policy, tokenizer, prompt + best)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(open("prompts.txt", encoding="utf-8").read().splitlines())
