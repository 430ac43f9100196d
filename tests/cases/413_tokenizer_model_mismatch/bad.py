from vllm import LLM, SamplingParams

engine = LLM(model="Qwen/Qwen2.5-7B-Instruct", tokenizer="mistralai/Mistral-7B-Instruct-v0.1")  # EXPECT: tokenizer_model_mismatch
for output in engine.generate(["What is a token?"], SamplingParams(max_tokens=40)):
    print(output.outputs[0].text)
