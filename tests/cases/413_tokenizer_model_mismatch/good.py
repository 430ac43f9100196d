from vllm import LLM, SamplingParams

engine = LLM(model="Qwen/Qwen2.5-7B-Instruct", tokenizer="Qwen/Qwen2.5-0.5B")
for output in engine.generate(["What is a token?"], SamplingParams(max_tokens=40)):
    print(output.outputs[0].text)
