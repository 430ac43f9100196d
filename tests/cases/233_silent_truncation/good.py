import json

from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-1.5B-Instruct"


def prompt(task, shots, question):
    lines = [task] + [f"Q: {shot['q']}\nA: {shot['a']}" for shot in shots] + [f"Q: {question}\nA:"]
    return "\n\n".join(lines)


def main():
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForCausalLM.from_pretrained(NAME, device_map="auto")
    room = model.config.max_position_embeddings - 64
    choices = tokenizer(["yes", "no", "maybe"], padding=True, truncation=True, max_length=4, return_tensors="pt")
    print(choices.input_ids.tolist())
    with open("tasks.jsonl", encoding="utf-8") as handle:
        for line in handle:
            task = json.loads(line)
            shots = task["shots"]
            inputs = tokenizer(prompt(task["instruction"], shots, task["question"]), return_tensors="pt")
            while shots and inputs.input_ids.shape[1] > room:
                shots = shots[1:]
                inputs = tokenizer(prompt(task["instruction"], shots, task["question"]), return_tensors="pt")
            inputs = inputs.to(model.device)
            out = model.generate(**inputs, max_new_tokens=64)
            print(tokenizer.decode(out[0, inputs.input_ids.shape[1] :], skip_special_tokens=True))


if __name__ == "__main__":
    main()
