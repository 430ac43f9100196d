from transformers import pipeline

generator = pipeline("text-generation", model="tiiuae/falcon-rw-1b", device_map="auto")
summarizer = pipeline("summarization", model="facebook/bart-large-cnn", device_map="auto")


class Answers:
    def __init__(self, instruction):
        self.instruction = instruction

    def answer(self, ticket):
        prompt = f"{self.instruction}\n\n{ticket}\n\nAnswer:"
        result = generator(prompt, max_new_tokens=512, return_full_text=False)
        return result[0]["generated_text"]

    def short(self, answer):
        return summarizer(answer, max_length=60, truncation=False)[0]["summary_text"]
