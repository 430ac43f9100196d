"""What pads, whether there is a token to pad with, and whether a model looks at the padding."""
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer, BertModel, BertTokenizer, DataCollatorWithPadding

gpt2 = AutoTokenizer.from_pretrained("gpt2")
gpt2(["a", "b c"], padding=True)  # fact: has pad token no
gpt2.pad([1])  # fact: has pad token no
DataCollatorWithPadding(gpt2)  # fact: has pad token no
gpt2(["a", "b c"], padding=unknown)  # fact: untold has pad token
BertTokenizer.from_pretrained("bert-base-uncased")("a", padding=True)  # fact: has pad token yes
AutoTokenizer.from_pretrained("somebody/unknown")("a", padding=True)  # fact: has pad token unknown
AutoTokenizer.from_pretrained(unknown)("a", padding=True)  # fact: has pad token unknown
AutoTokenizer.from_pretrained("gpt2", **unknown)("a", padding=True)  # fact: has pad token unknown
AutoTokenizer.from_pretrained("gpt2" if sys.argv else "bert-base-uncased")("a", padding=True)  # fact: has pad token unknown
AutoTokenizer.from_pretrained("gpt2", pad_token="!")("a", padding=True)  # fact: has pad token unknown
# ======== it is set, or may be
from company import prepare
from transformers import AutoTokenizer

one, other = AutoTokenizer.from_pretrained("gpt2"), AutoTokenizer.from_pretrained("gpt2")
one.pad_token = one.eos_token
one("a", padding=True)  # fact: has pad token unknown
prepare(other)
other("a", padding=True)  # fact: has pad token unknown
# ======== whether padding is looked at
from transformers import AutoModelForCausalLM, AutoTokenizer, BertModel, BertTokenizer

left = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
left.pad_token = left.eos_token
right = AutoTokenizer.from_pretrained("gpt2")
right.add_special_tokens({"pad_token": "!"})
model = AutoModelForCausalLM.from_pretrained("gpt2")
bert, words = BertModel.from_pretrained("bert-base-uncased"), BertTokenizer.from_pretrained("bert-base-uncased")
model.generate(left(["a", "b c"], padding=True).input_ids)  # fact: attends to padding yes
model.generate(right(["a", "b c"], padding=True).input_ids)  # fact: attends to padding unknown
model.generate(left("a").input_ids)  # fact: untold attends to padding
model.generate(left("a", padding=True, truncation=True, return_overflowing_tokens=True).input_ids)  # fact: attends to padding yes
model.generate(left("a", padding=True, truncation=True, return_overflowing_tokens=unknown).input_ids)  # fact: untold attends to padding
model(left(["a", "b c"], padding=True).input_ids)  # fact: attends to padding yes
model(right(["a", "b c"], padding=True).input_ids)  # fact: attends to padding unknown
bert(words(["a", "b c"], padding=True).input_ids)  # fact: attends to padding yes
bert(words(["a", "b c"], padding=True).input_ids, unknown)  # fact: untold attends to padding
bert(words(["a", "b c"], padding=True).input_ids, **unknown)  # fact: untold attends to padding
# ======== types by whose class it is known
from transformers import CLIPTextModel, CLIPTokenizer, TapasModel, TapasTokenizer

tapas, cells = TapasModel.from_pretrained("google/tapas-base"), TapasTokenizer.from_pretrained("google/tapas-base")
tapas(cells(queries=["a", "b c"], table=unknown, padding="max_length").input_ids)  # fact: attends to padding yes
clip = CLIPTextModel.from_pretrained("openai/clip-vit-base-patch32")
words = CLIPTokenizer.from_pretrained("openai/clip-vit-base-patch32")
clip(words(["a", "b c"], padding=True).input_ids)  # fact: attends to padding unknown
