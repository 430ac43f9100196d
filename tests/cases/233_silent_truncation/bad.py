import json

from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-1.5B-Instruct"


def prompt(task, shots, question):
    lines = [task] + [f"Q: {shot['q']}\nA: {shot['a']}" for shot in shots] + [f"Q: {question}\nA:"]
    return "\n\n".join(lines)


def main():
    tokenizer = AutoTokenizer.from_pretrained(NAME, truncation_side="left")
    model = AutoModelForCausalLM.from_pretrained(NAME, device_map="auto")
    with open("tasks.jsonl", encoding="utf-8") as handle:
        for line in handle:
            task = json.loads(line)
            inputs = tokenizer(
                prompt(task["instruction"], task["shots"], task["question"]),
                return_tensors="pt",
                truncation=True,
                max_length=model.config.max_position_embeddings - 64,  # EXPECT: silent_truncation
            ).to(model.device)
            out = model.generate(**inputs, max_new_tokens=64)
            print(tokenizer.decode(out[0, inputs.input_ids.shape[1] :], skip_special_tokens=True))


if __name__ == "__main__":
    main()
