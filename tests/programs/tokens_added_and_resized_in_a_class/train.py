from bundle import Bundle

bundle = Bundle("gpt2")
bundle.add_roles(["<user>", "<assistant>"])
batch = bundle.tokenizer("Hello <user>", return_tensors="pt")
loss = bundle.model(**batch, labels=batch["input_ids"]).loss
loss.backward()
