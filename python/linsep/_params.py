"""Parameters, as scikit-learn's tools read and set them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self


class Parameters:
    """What ``clone``, grids and pipelines ask of an estimator: parameters by name, and a short representation."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return sorted(name for name in signature.parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` also those of parameters that are estimators.

        Parameters
        ----------
        deep : bool, default=True
            Whether to look into estimators.

        Returns
        -------
        dict
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found.update((f"{name}__{inner}", v) for inner, v in value.get_params().items())
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Sets parameters by name, ``inner__name`` for those of inner estimators.

        Returns
        -------
        self
        """
        if not params:
            return self
        valid = self.get_params(deep=True)
        inner: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            own, deeper, rest = name.partition("__")
            if own not in valid:
                raise ValueError(
                    f"Invalid parameter {own!r} for estimator {self}. Valid parameters are:"
                    f" {self._get_param_names()!r}."
                )
            if deeper:
                inner.setdefault(own, {})[rest] = value
            else:
                setattr(self, own, value)
                valid[own] = value
        for own, values in inner.items():
            valid[own].set_params(**values)
        return self

    def _changed_params(self) -> dict[str, Any]:
        """Parameters that are not at their defaults, in the order of the signature."""
        changed = {}
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if name != "self":
                value = getattr(self, name)
                if repr(value) != repr(parameter.default):
                    changed[name] = value
        return changed

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._changed_params().items())
        return f"{type(self).__name__}({inside})"
