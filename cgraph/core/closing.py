"""Values that hold what has to be given back: `with` closes them. What closing does is theirs."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class ClosedByWith(ABC):
    """A context manager that is itself what it gives, and is closed at the end."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Gives back what it holds, once or again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
