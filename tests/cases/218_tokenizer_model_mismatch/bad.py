import streamlit as st
from transformers import AutoModelForCausalLM, AutoTokenizer


@st.cache_resource
def load():
    return (
        AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B"),  # EXPECT: tokenizer_model_mismatch
        AutoModelForCausalLM.from_pretrained("microsoft/phi-2"),
    )


st.title("Complete my sentence")
prompt = st.text_area("Sentence")
if st.button("Go") and prompt:
    tokenizer, model = load()
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=60)
    st.write(tokenizer.decode(output[0], skip_special_tokens=True))
