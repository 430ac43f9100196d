"""What `generate` is told, by its call, by a config of its own, by the checkpoint; what comes in from outside is unknown."""
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = AutoTokenizer.from_pretrained("gpt2")("text", return_tensors="pt")
model.generate(1)  # fact: is sampled no
model.generate(**inputs)  # fact: is sampled no
model.generate(**{name: ids.to("cuda") for name, ids in inputs.items()})  # fact: is sampled no
model.generate(1, do_sample=True)  # fact: is sampled yes
model.generate(1, do_sample=len(sys.argv) > 1)  # fact: is sampled unknown
model.generate(1, **unknown)  # fact: is sampled unknown
model.generate(1, **{"do_sample": True})  # fact: is sampled yes
model.generate(1, generation_config=GenerationConfig(do_sample=True))  # fact: is sampled yes
model.generate(1, generation_config=GenerationConfig(top_k=5))  # fact: is sampled no
model.generate(1, generation_config=GenerationConfig(**unknown))  # fact: is sampled unknown
model.generate(1, generation_config=unknown)  # fact: is sampled unknown
AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct").generate(1)  # fact: is sampled unknown
AutoModelForCausalLM.from_pretrained("somebody/unknown").generate(1)  # fact: is sampled unknown
AutoModelForCausalLM.from_pretrained("gpt2", **unknown).generate(1)  # fact: is sampled unknown
AutoModelForCausalLM.from_pretrained("gpt2", do_sample=True).generate(1)  # fact: is sampled unknown
# ======== the model is told before
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
model.generation_config.do_sample = True
model.generate(1)  # fact: is sampled unknown
# ======== the folder says it
from transformers import AutoModelForCausalLM

AutoModelForCausalLM.from_pretrained("./mine").generate(1)  # fact: is sampled yes
AutoModelForCausalLM.from_pretrained("./plain").generate(1)  # fact: is sampled unknown
# -------- mine/config.json
#| {"model_type": "gpt2"}
# -------- mine/generation_config.json
#| {"do_sample": true}
# -------- plain/config.json
#| {"model_type": "gpt2"}
# ======== by its arguments a `generate` is transformers' own
def run(model, other, settings):
    model.generate(1, max_new_tokens=5, do_sample=False)  # fact: is sampled no
    model.generate(1, max_new_tokens=5, do_sample=settings.sample)  # fact: is sampled unknown
    other.generate(1, do_sample=True)  # fact: untold is sampled
# ======== a length of prompt and answer together
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
flan = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
model.generate(**tokenizer(unknown), max_length=200)  # fact: counts prompt yes; leaves room no
model.generate(**tokenizer("short"), max_length=200)  # fact: counts prompt yes; leaves room yes
model.generate(**tokenizer(["short", "too"]), max_length=200)  # fact: leaves room yes
model.generate(**tokenizer(["short", "the second is longer"]), max_length=4)  # fact: leaves room no
model.generate(**tokenizer(unknown, truncation=True, max_length=100), max_length=200)  # fact: leaves room yes
model.generate(**tokenizer(unknown), max_length=unknown)  # fact: leaves room unknown
model.generate(**tokenizer(unknown), max_length=1024)  # fact: leaves room unknown
model.generate(**tokenizer(unknown), max_length=200, **unknown)  # fact: leaves room unknown
model.generate(inputs_embeds=unknown, max_length=200)  # fact: counts prompt unknown; leaves room unknown
flan.generate(**tokenizer(unknown), max_length=200)  # fact: counts prompt unknown
