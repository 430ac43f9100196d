from threading import Thread

from transformers import AutoModelForCausalLM, AutoTokenizer, TextIteratorStreamer

MODEL_ID = "google/gemma-3-1b-it"
TOKENIZER_ID = "google/gemma-2-2b-it"


class Streamer:
    def __init__(self):
        self.model = AutoModelForCausalLM.from_pretrained(MODEL_ID, device_map="auto")
        self.tokenizer = AutoTokenizer.from_pretrained(TOKENIZER_ID)  # EXPECT: tokenizer_model_mismatch

    def stream(self, messages):
        ids = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=False
        ).to(self.model.device)
        streamer = TextIteratorStreamer(self.tokenizer, skip_prompt=True, timeout=30)
        Thread(target=self.model.generate, args=(ids,), kwargs={"streamer": streamer, "max_new_tokens": 200}).start()
        yield from streamer


if __name__ == "__main__":
    for piece in Streamer().stream([{"role": "user", "content": "Name three rivers."}]):
        print(piece, end="", flush=True)
