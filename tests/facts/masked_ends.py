"""Whether what masks labels by the pad token's id takes the ends of texts with them."""
from transformers import AutoTokenizer, DataCollatorForLanguageModeling, Trainer

def tune(dataset):
    end = AutoTokenizer.from_pretrained("gpt2")
    end.pad_token = end.eos_token
    collate = DataCollatorForLanguageModeling(end, mlm=False)  # fact: pads with end yes; is learned from yes; holds ends yes
    Trainer(data_collator=collate).train()
    data = dataset.map(lambda row: end(row["text"] + end.eos_token))
    maybe = AutoTokenizer.from_pretrained("gpt2")
    if unknown:
        maybe.pad_token = maybe.eos_token
    DataCollatorForLanguageModeling(maybe, mlm=False)  # fact: pads with end unknown; is learned from unknown
    new = AutoTokenizer.from_pretrained("gpt2")
    new.add_special_tokens({"pad_token": "[PAD]"})
    DataCollatorForLanguageModeling(new, mlm=False)  # fact: pads with end no
    asked = AutoTokenizer.from_pretrained("gpt2")
    if asked.pad_token is None:
        asked.pad_token = asked.eos_token
    DataCollatorForLanguageModeling(asked, mlm=False)  # fact: pads with end yes
    bert = AutoTokenizer.from_pretrained("bert-base-uncased")
    bert.pad_token = bert.pad_token or bert.eos_token
    DataCollatorForLanguageModeling(bert, mlm=False)  # fact: pads with end no
    DataCollatorForLanguageModeling(bert)  # fact: untold pads with end
    DataCollatorForLanguageModeling(bert, mlm=unknown)  # fact: untold pads with end
# ======== nothing is known of the checkpoint, of who changes it, of what is learned
from company import prepare
from transformers import AutoTokenizer, DataCollatorForLanguageModeling, Trainer

first = AutoTokenizer.from_pretrained(unknown)
first.pad_token = first.pad_token or first.eos_token
DataCollatorForLanguageModeling(first, mlm=False)  # fact: pads with end unknown; is learned from unknown; holds ends unknown
second = AutoTokenizer.from_pretrained("gpt2")
second.pad_token = second.eos_token
prepare(second)
DataCollatorForLanguageModeling(second, mlm=False)  # fact: pads with end unknown
third = AutoTokenizer.from_pretrained("gpt2")
DataCollatorForLanguageModeling(third, mlm=False)  # fact: pads with end unknown
fourth = AutoTokenizer.from_pretrained("gpt2", pad_token=unknown)
collate = DataCollatorForLanguageModeling(fourth, mlm=False)  # fact: pads with end unknown; is learned from unknown
Trainer(data_collator=collate).evaluate()
# ======== by hand
from transformers import AutoTokenizer, Trainer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
ids = tokenizer(unknown, padding=True).input_ids
labels = ids.clone()
labels[labels == tokenizer.pad_token_id] = -100  # fact: pads with end yes; is learned from unknown; holds ends unknown
# ======== with a trainer
from transformers import AutoTokenizer, Trainer

Trainer(unknown)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token_id = tokenizer.eos_token_id
ids = tokenizer(unknown, padding=True).input_ids
labels = ids.masked_fill(ids == tokenizer.pad_token_id, -100)  # fact: pads with end yes; is learned from yes; holds ends unknown
labels = ids.masked_fill(ids == 0, -100)  # fact: untold pads with end
