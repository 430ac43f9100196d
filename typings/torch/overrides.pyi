from collections.abc import Callable
from types import TracebackType
from typing import Any

class TorchFunctionMode:
    def __enter__(self) -> TorchFunctionMode: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = ...,
        kwargs: dict[str, Any] | None = ...,
    ) -> Any: ...

def resolve_name(function: Callable[..., Any]) -> str | None: ...
