from collections.abc import Callable, Iterator

from torch import Tensor
from torch.nn import init as init
from torch.utils.hooks import RemovableHandle

class Parameter(Tensor):
    def __init__(self, data: Tensor) -> None: ...

class Module:
    training: bool
    def __init__(self) -> None: ...
    def __call__(self, *args: object, **kwargs: object) -> object: ...
    forward: Callable[..., object]
    def register_buffer(self, name: str, tensor: Tensor) -> None: ...
    def eval(self) -> Module: ...
    def train(self, mode: bool = ...) -> Module: ...
    def to(self, *args: object, **kwargs: object) -> Module: ...
    def bfloat16(self) -> Module: ...
    def children(self) -> Iterator[Module]: ...
    def modules(self) -> Iterator[Module]: ...
    def named_modules(self, *, remove_duplicate: bool = ...) -> Iterator[tuple[str, Module]]: ...
    def named_children(self) -> Iterator[tuple[str, Module]]: ...
    def parameters(self, recurse: bool = ...) -> Iterator[Parameter]: ...
    def named_parameters(self, *, remove_duplicate: bool = ...) -> Iterator[tuple[str, Parameter]]: ...
    def buffers(self, recurse: bool = ...) -> Iterator[Tensor]: ...
    def register_forward_pre_hook(
        self, hook: Callable[..., object], *, with_kwargs: bool = ..., prepend: bool = ...
    ) -> RemovableHandle: ...
    def register_forward_hook(
        self, hook: Callable[..., object], *, with_kwargs: bool = ..., always_call: bool = ...
    ) -> RemovableHandle: ...

class Embedding(Module):
    num_embeddings: int
    embedding_dim: int
    weight: Parameter
    def __init__(self, num_embeddings: int, embedding_dim: int) -> None: ...

class EmbeddingBag(Module):
    num_embeddings: int
    embedding_dim: int

class Linear(Module):
    in_features: int
    out_features: int
    weight: Parameter
    def __init__(self, in_features: int, out_features: int, bias: bool = ...) -> None: ...

class Flatten(Module): ...

class Conv1d(Module):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, *, padding: int = ...) -> None: ...
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]

class Conv2d(Module):
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]

class Conv3d(Module):
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]

class LayerNorm(Module):
    normalized_shape: tuple[int, ...]
    def __init__(self, normalized_shape: int) -> None: ...

class BatchNorm1d(Module):
    num_features: int

class BatchNorm2d(Module):
    num_features: int

class GroupNorm(Module):
    num_channels: int

class RNNBase(Module):
    input_size: int
    hidden_size: int
    batch_first: bool

class MultiheadAttention(Module):
    embed_dim: int
    batch_first: bool

class TransformerEncoderLayer(Module):
    self_attn: MultiheadAttention

class ModuleList(Module):
    def __len__(self) -> int: ...

class ModuleDict(Module): ...

class Sequential(Module):
    def __init__(self, *modules: Module) -> None: ...

class GELU(Module): ...

class Dropout(Module):
    def __init__(self, p: float = ...) -> None: ...

class ConvTranspose1d(Module):
    in_channels: int

class ConvTranspose2d(Module):
    in_channels: int

class ConvTranspose3d(Module):
    in_channels: int
