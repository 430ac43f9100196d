"""What a checkpoint is: by its files, the cache, the table that ships; blank is unknown."""
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoModelForSeq2SeqLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("gpt2")  # fact: type is taken yes; head is new unknown
model.generate(1)  # fact: loaded as `gpt2`
model = AutoModelForCausalLM.from_pretrained("t5-small")  # fact: type is taken no
model = AutoModelForSequenceClassification.from_pretrained("gpt2")  # fact: head is new yes
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")  # fact: type is taken yes
model = AutoModelForCausalLM.from_pretrained("somebody/unknown")  # fact: type is taken unknown
model = AutoModelForCausalLM.from_pretrained(unknown)  # fact: untold type is taken
model = AutoModel.from_pretrained("bert-base-uncased")  # fact: type is taken unknown
tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model(**tokenizer("text", return_tensors="pt"))  # fact: vocabulary is shared no
# ======== a family shares its vocabulary
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("bert-base-uncased")
tokenizer = AutoTokenizer.from_pretrained("bert-large-uncased")
model(**tokenizer("text", return_tensors="pt"))  # fact: vocabulary is shared yes
# ======== nobody knows the one
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("bert-base-uncased")
tokenizer = AutoTokenizer.from_pretrained("somebody/unknown")
model(**tokenizer("text", return_tensors="pt"))  # fact: untold vocabulary is shared
# ======== one of two
import sys
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("bert-base-uncased")
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased" if sys.argv[1] else "gpt2")
model(**tokenizer("text", return_tensors="pt"))  # fact: vocabulary is shared unknown
# ======== a folder of the project
from transformers import AutoModel, AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("./mine")  # fact: type is taken yes; head is new unknown
model = AutoModelForCausalLM.from_pretrained("./absent")  # fact: type is taken unknown
# -------- mine/config.json
#| {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257}
# ======== rows
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice no
tokenizer.add_tokens(unknown)  # fact: rows suffice no
model(**tokenizer("text", return_tensors="pt"))
# ======== lengths
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
other = AutoModelForCausalLM.from_pretrained(unknown)
ids = tokenizer("text", return_tensors="pt", truncation=True, max_length=4096)  # fact: is beyond context yes
model(**ids)
ids = tokenizer("text", return_tensors="pt", truncation=True, max_length=512)  # fact: is beyond context no
model(**ids)
ids = tokenizer("text", return_tensors="pt", truncation=True, max_length=unknown)  # fact: is beyond context unknown
model(**ids)
# ==================================================
"""Who chooses how a model computes attention."""
from transformers import AutoConfig, AutoModel

plain = AutoConfig.from_pretrained("bert-base-uncased")
by_config = AutoModel.from_pretrained("bert-base-uncased", config=plain)
print(by_config(1, output_attentions=True).attentions)  # fact: has maps no; is read yes
flash = AutoConfig.from_pretrained("company/model", attn_implementation="flash_attention_2")
fused = AutoModel.from_pretrained("company/model", config=flash)
print(fused(1, output_attentions=True).attentions)  # fact: has maps no
told = AutoConfig.from_pretrained("bert-base-uncased", output_attentions=True)
slow = AutoModel.from_pretrained("bert-base-uncased", config=told)
print(slow(1, output_attentions=True).attentions)  # fact: has maps unknown
changed = AutoConfig.from_pretrained("bert-base-uncased")
changed._attn_implementation = "eager"
eager = AutoModel.from_pretrained("bert-base-uncased", config=changed)
print(eager(1, output_attentions=True).attentions)  # fact: has maps unknown
given = AutoModel.from_pretrained("bert-base-uncased", config=company.config)
print(given(1, output_attentions=True).attentions)  # fact: has maps unknown
shared = AutoConfig.from_pretrained("bert-base-uncased")
company.adapt(shared)
adapted = AutoModel.from_pretrained("bert-base-uncased", config=shared)
print(adapted(1, output_attentions=True).attentions)  # fact: has maps unknown
loud = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="sdpa", output_attentions=True)  # fact: has maps no
print(loud(1).attentions)
# ==================================================
"""Whether the config that a model is loaded with is its checkpoint's."""
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice no
ids = tokenizer("text", return_tensors="pt", padding="max_length", max_length=4096)  # fact: is beyond context yes
same = AutoConfig.from_pretrained("gpt2")
same.use_cache = False
AutoModelForCausalLM.from_pretrained("gpt2", config=same)(**ids)
# ==================================================
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice unknown
ids = tokenizer("text", return_tensors="pt", padding="max_length", max_length=4096)  # fact: is beyond context unknown
AutoModelForCausalLM.from_pretrained("gpt2", config=AutoConfig.from_pretrained("company/gpt2"))(**ids)
# ==================================================
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: untold rows suffice
ids = tokenizer("text", return_tensors="pt", padding="max_length", max_length=4096)  # fact: is beyond context unknown
changed = AutoConfig.from_pretrained("gpt2")
changed.vocab_size = changed.n_positions = 8192
AutoModelForCausalLM.from_pretrained("gpt2", config=changed)(**ids)
# ==================================================
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice unknown
ids = tokenizer("text", return_tensors="pt", padding="max_length", max_length=4096)  # fact: is beyond context unknown
given = AutoConfig.from_pretrained("gpt2")
company.adapt(given)
AutoModelForCausalLM.from_pretrained("gpt2", config=given)(**ids)
