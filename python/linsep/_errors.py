"""Exceptions and warnings that are scikit-learn's, too, where scikit-learn is loaded.

The classes here never import scikit-learn. Whoever raises one asks for it by function; if scikit-learn is loaded by
then, the answer is a subclass of both, so that either name catches it.
"""

from __future__ import annotations

import sys
import warnings


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before ``fit``."""


class ConvergenceWarning(UserWarning):
    """The tolerance was not reached; ``stop_`` and ``certificate_`` say how far the fit came."""


class DataConversionWarning(UserWarning):
    """The data had to be changed in shape."""


_joined: dict[type, type] = {}


def _also_sklearn(own: type) -> type:
    """`own`, or a subclass of it and of scikit-learn's class of the same name."""
    if "sklearn" not in sys.modules:
        return own
    joined = _joined.get(own)
    if joined is None:
        from sklearn import exceptions

        theirs = getattr(exceptions, own.__name__)
        joined = type(own.__name__, (own, theirs), {"__module__": own.__module__, "__doc__": own.__doc__})
        _joined[own] = joined
    return joined


def not_fitted(estimator: object, message: str | None = None) -> Exception:
    """The exception of an estimator that is not fitted, or not for what is asked of it."""
    name = type(estimator).__name__
    kind = _also_sklearn(NotFittedError)
    return kind(
        message
        or f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )


def convergence_warning() -> type:
    """The class of the warning that a tolerance was not reached."""
    return _also_sklearn(ConvergenceWarning)


def conversion_warning() -> type:
    """The class of the warning that data had another shape than expected."""
    return _also_sklearn(DataConversionWarning)


def warn(message: str, kind: type = UserWarning) -> None:
    """Warns at the line outside of this package that led here, however deep inside it is found."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("linsep."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)
