"""Fitted attributes that are computed when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar


class fitted_attribute:
    """An attribute of a fitted estimator, computed at its first use and kept until the next fit.

    Before the fit there is no such attribute; the function itself may say so by raising `AttributeError`, too.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        own = estimator.__dict__
        if "model_" not in own and not own.get("_by_counts", False):
            raise AttributeError(f"{type(estimator).__name__!r} has no attribute {self.name!r} before it is fitted")
        # One dictionary for all of them, so that predicting changes no attribute of the estimator.
        kept = own["_kept_attributes"]
        if self.name not in kept:
            kept[self.name] = self.compute(estimator)
        return kept[self.name]

    def __set__(self, estimator: Any, value: Any) -> None:
        name = self.name
        if name not in getattr(estimator, "_writable", ()) or "model_" not in estimator.__dict__:
            raise AttributeError(f"{name} of {type(estimator).__name__} is what a fit found, and cannot be assigned")
        estimator._assign(name, value)


class available_if:
    """A method that exists only where a condition on the estimator holds, for ``hasattr``."""

    def __init__(self, condition: Callable[[Any], bool]) -> None:
        self.condition = condition

    def __call__(self, method: Callable[..., Any]) -> available_if:
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
    """Makes room for what will be computed from a new model."""
    estimator.__dict__["_kept_attributes"] = {}


if TYPE_CHECKING:
    # What these two look like from outside.
    fitted_attribute = property  # type: ignore[misc,assignment]

    _Method = TypeVar("_Method", bound=Callable[..., Any])

    def available_if(condition: Callable[[Any], bool]) -> Callable[[_Method], _Method]: ...  # type: ignore[no-redef]
