from transformers import pipeline

generator = pipeline("text-generation", model="tiiuae/falcon-rw-1b", device_map="auto")


class Answers:
    def __init__(self, instruction):
        self.instruction = instruction

    def answer(self, ticket):
        prompt = f"{self.instruction}\n\n{ticket}\n\nAnswer:"
        result = generator(prompt, max_length=512, return_full_text=False)  # EXPECT
        return result[0]["generated_text"]
