import click
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer


@click.group()
def cli():
    pass


@cli.command()
@click.option("--model", "model_id", default="deepset/roberta-base-squad2", show_default=True)
@click.option("--vocab", default="FacebookAI/roberta-base", show_default=True)
@click.argument("question")
@click.argument("context_file", type=click.File("r"))
def answer(model_id, vocab, question, context_file):
    """Answer QUESTION from the text in CONTEXT_FILE."""
    tok = AutoTokenizer.from_pretrained(vocab)
    reader = AutoModelForQuestionAnswering.from_pretrained(model_id)
    enc = tok(question, context_file.read(), return_tensors="pt")
    with torch.no_grad():
        out = reader(**enc)
    start, end = int(out.start_logits.argmax()), int(out.end_logits.argmax())
    click.echo(tok.decode(enc["input_ids"][0, start : end + 1]))


@cli.command()
@click.option("--model", "model_id", default="distilbert/distilbert-base-cased-distilled-squad")
@click.option("--vocab", default=None)
@click.argument("question")
def count(model_id, vocab, question):
    tok = AutoTokenizer.from_pretrained(vocab or model_id)
    reader = AutoModelForQuestionAnswering.from_pretrained(model_id)
    with torch.no_grad():
        click.echo(reader(**tok(question, return_tensors="pt")).start_logits.shape)


if __name__ == "__main__":
    cli()
