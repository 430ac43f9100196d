import gradio as gr
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

MAX_TOKENS = 1024
tokenizer = AutoTokenizer.from_pretrained("sshleifer/distilbart-cnn-12-6")
model = AutoModelForSeq2SeqLM.from_pretrained("sshleifer/distilbart-cnn-12-6")


def encode(text, limit=MAX_TOKENS):
    ids = tokenizer.encode(text, truncation=True, max_length=limit, return_tensors="pt")
    if ids.shape[-1] >= limit:
        gr.Warning(f"only the first {limit} tokens are summarised")
    return ids


def summarise(text):
    output = model.generate(encode(text), num_beams=4, max_new_tokens=140)
    return tokenizer.decode(output[0], skip_special_tokens=True)


gr.Interface(summarise, gr.Textbox(lines=20), "text").launch()
