def labels_of(batch):
    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = -100
    return labels
