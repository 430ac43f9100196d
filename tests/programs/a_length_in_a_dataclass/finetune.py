from dataset import Lines
from settings import DataSettings
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed


def main():
    set_seed(3)
    settings = DataSettings()
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
    rows = Lines(settings.path, tokenizer, 1024)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows).train()


if __name__ == "__main__":
    main()
