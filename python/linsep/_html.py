"""Compact tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = "border-collapse:collapse;font-family:monospace;font-size:90%"
_CELL = "padding:1px 8px;text-align:left;vertical-align:top"


def table(title: str, rows: list[tuple[str, Any]]) -> str:
    """A title and two columns."""
    body = "".join(
        f'<tr><td style="{_CELL};opacity:0.7">{escape(str(name))}</td>'
        f'<td style="{_CELL};white-space:pre-wrap">{escape(str(value))}</td></tr>'
        for name, value in rows
    )
    return (
        f'<table style="{_STYLE}"><thead><tr><th colspan="2" style="{_CELL}">{escape(title)}</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def estimator_html(estimator: Any) -> str:
    """Parameters that were changed, and what a fit came to."""
    rows: list[tuple[str, Any]] = [
        ("parameters", ", ".join(f"{k}={v!r}" for k, v in estimator._changed_params().items()) or "defaults")
    ]
    if "model_" in estimator.__dict__:
        model = estimator.model_
        classes = ", ".join(str(label) for label in estimator.classes_.tolist()[:20])
        rows += [
            ("classes", classes + (" …" if estimator.classes_.size > 20 else "")),
            ("features", estimator.n_features_in_),
            ("minimised", model.formula),
            ("objective", f"{model.objective:.10g}"),
            ("certificate", certificate_words(estimator.certificate_)),
            ("ended", f"{model.outcome.replace('_', ' ')}: {model.solver}, {model.iterations} iterations"),
        ]
    else:
        rows.append(("state", "not fitted"))
    return table(type(estimator).__name__, rows) + _picture(estimator)


#: More columns than this make no picture that anybody reads.
_MOST_COLUMNS = 30


def _picture(estimator: Any) -> str:
    """The picture of the coefficients, folded up; nothing where there is none."""
    model = estimator.__dict__.get("model_")
    if model is None or model.coef() is None or model.n_features > _MOST_COLUMNS:
        return ""
    from ._core import LinsepError

    try:
        drawn = estimator.plot("coefficients")
    except (LinsepError, ValueError):
        return ""
    return f"<details><summary>.plot('coefficients')</summary>{drawn._repr_svg_()}</details>"


def certificate_words(certificate: dict[str, Any]) -> str:
    """The kind of a certificate and its numbers."""
    numbers = ", ".join(
        f"{name.replace('_', ' ')} {value:.3g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
        for name, value in certificate.items()
        if name != "kind" and value is not None
    )
    return f"{certificate.get('kind', '').replace('_', ' ')}: {numbers}"
