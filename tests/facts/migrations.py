"""Arguments that transformers no longer takes."""
import transformers
from transformers import AutoModel, Trainer, TrainingArguments
from things import make, settings

TrainingArguments("out", evaluation_strategy="epoch")  # fact: is refused yes
TrainingArguments("out", overwrite_output_dir=True)  # fact: is refused yes
TrainingArguments("out", **{"no_cuda": True})  # fact: is refused yes
TrainingArguments("out", evaluation_strategy="no", eval_strategy="no")  # fact: is refused unknown
TrainingArguments("out", evaluation_strategy="no", **settings)  # fact: is refused unknown
TrainingArguments("out", eval_strategy="no")  # fact: untold is refused
Trainer(make(), tokenizer=make())  # fact: is refused yes
make(tokenizer=settings)  # fact: untold is refused
AutoModel.from_pretrained("gpt2", use_auth_token=True)  # fact: is refused yes
AutoModel.from_pretrained("gpt2", use_auth_token=True, **settings)  # fact: is refused unknown
if hasattr(Trainer, "tokenizer"):
    Trainer(make(), tokenizer=make())  # fact: is refused unknown
if transformers.__version__ < "5":
    Trainer(make(), tokenizer=make())  # fact: is refused unknown
try:
    TrainingArguments("out", no_cuda=True)  # fact: is refused unknown
except TypeError:
    TrainingArguments("out", use_cpu=True)  # fact: untold is refused
# ======== an older release
# -------- requirements.txt
#| transformers>=4.40
# -------- program.py
from transformers import TrainingArguments

TrainingArguments("out", evaluation_strategy="epoch")  # fact: is refused no
