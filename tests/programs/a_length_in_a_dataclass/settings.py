from dataclasses import dataclass


@dataclass
class DataSettings:
    path: str = "corpus.jsonl"
    max_length: int = 1024
    batch_size: int = 16
