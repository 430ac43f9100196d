import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, set_seed

POLICY = "Qwen/Qwen2.5-0.5B"
REWARD = "OpenAssistant/reward-model-deberta-v3-large-v2"


def score(reward_model, reward_tokenizer, prompts, answers):
    batch = reward_tokenizer(prompts, answers, padding=True, return_tensors="pt").to(reward_model.device)
    with torch.no_grad():
        rewards = reward_model(**batch).logits.squeeze(-1)
    return rewards.tolist()


def token_logps(model, ids):
    logits = model(ids).logits[:, :-1]
    return torch.gather(logits.log_softmax(-1), 2, ids[:, 1:, None]).squeeze(-1)


def main(prompts):
    set_seed(3)
    tokenizer = AutoTokenizer.from_pretrained(POLICY)
    policy = AutoModelForCausalLM.from_pretrained(POLICY).to("cuda")
    reference = AutoModelForCausalLM.from_pretrained(POLICY).to("cuda")
    reward_tokenizer = AutoTokenizer.from_pretrained(REWARD)
    reward_model = AutoModelForSequenceClassification.from_pretrained(REWARD).to("cuda").eval()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-6)
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt").to("cuda")
        out = policy.generate(**ids, do_sample=True, num_return_sequences=4, max_new_tokens=64)
        answers = tokenizer.batch_decode(out[:, ids.input_ids.shape[1] :], skip_special_tokens=True)
        scores = score(reward_model, reward_tokenizer, [prompt] * 4, answers)
        best = out[scores.index(max(scores))][None]
        logps = token_logps(policy, best)
        with torch.no_grad():
            reference_logps = token_logps(reference, best)
        loss = -F.logsigmoid(0.1 * (logps - reference_logps)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(open("prompts.txt", encoding="utf-8").read().splitlines())
