import streamlit as st
from transformers import AutoModelForCausalLM, AutoTokenizer

NAMES = {"small": "Qwen/Qwen2.5-0.5B", "phi": "microsoft/phi-2"}


@st.cache_resource
def load(name):
    return AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)


st.title("Complete my sentence")
choice = st.selectbox("Model", list(NAMES))
prompt = st.text_area("Sentence")
if st.button("Go") and prompt:
    tokenizer, model = load(NAMES[choice])
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=60)
    st.write(tokenizer.decode(output[0], skip_special_tokens=True))
