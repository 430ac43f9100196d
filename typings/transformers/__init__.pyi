"""What the worker of the probe uses of transformers, no more."""

from typing import Any

from torch import nn

__version__: str

class PretrainedConfig:
    model_type: str
    def __init__(self, **fields: Any) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...

class PreTrainedModel(nn.Module):
    config: PretrainedConfig
    config_class: type[PretrainedConfig]

class AutoConfig:
    @staticmethod
    def from_pretrained(name: str, **arguments: Any) -> PretrainedConfig: ...
    @staticmethod
    def for_model(model_type: str, **fields: Any) -> PretrainedConfig: ...
