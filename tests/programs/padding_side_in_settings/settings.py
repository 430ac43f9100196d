from dataclasses import dataclass

@dataclass
class Settings:
    name: str = "gpt2"
    side: str = "right"
