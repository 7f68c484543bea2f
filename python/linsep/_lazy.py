"""Fitted attributes that are computed when somebody asks for them."""

from __future__ import annotations

from typing import Any, Callable


class fitted_attribute:
    """An attribute of a fitted estimator, computed at its first use and kept until the next fit.

    Before the fit there is no such attribute; the function itself may say so by raising `AttributeError`, too.
    """

    def __init__(self, compute: Callable[[Any], Any]):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        if "model_" not in estimator.__dict__:
            raise AttributeError(f"{type(estimator).__name__!r} has no attribute {self.name!r} before it is fitted")
        value = self.compute(estimator)
        # Not a data descriptor: from now on the instance's own attribute is found first.
        estimator.__dict__[self.name] = value
        return value


class available_if:
    """A method that exists only where a condition on the estimator holds, for ``hasattr``."""

    def __init__(self, condition: Callable[[Any], bool]):
        self.condition = condition

    def __call__(self, method: Callable) -> available_if:
        self.method = method
        self.__doc__ = method.__doc__
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self.method
        if not self.condition(estimator):
            raise AttributeError(f"This {type(estimator).__name__!r} has no attribute {self.name!r}")
        return self.method.__get__(estimator, owner)


def forget(estimator: Any) -> None:
    """Removes what was computed lazily from an older fit."""
    own = estimator.__dict__
    for name in [name for name in own if isinstance(getattr(type(estimator), name, None), fitted_attribute)]:
        del own[name]
