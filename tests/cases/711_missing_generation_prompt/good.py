import argparse

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("question")
    parser.add_argument("--model", default="Qwen/Qwen2.5-1.5B-Instruct")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16, device_map="auto")
    messages = [
        {"role": "user", "content": args.question},
        {"role": "assistant", "content": "In one sentence:"},
    ]
    inputs = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True, continue_final_message=True)
    inputs = inputs.to(model.device)
    output = model.generate(**inputs, max_new_tokens=80, do_sample=False)
    print(tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))


if __name__ == "__main__":
    main()
