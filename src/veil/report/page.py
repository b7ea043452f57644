"""report: one page of HTML that stands by itself: no script runs, nothing is fetched."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import resources
from types import MappingProxyType
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..errors import BadInput
from ..evaluate import Evaluation
from ..kernel import exact
from ..markup import escaped
from ..models import AutoClassifier
from ..pages import Reported
from ..plans.outcome import Outcome
from ..synopsis import Histogram, Synopsis, SyntheticTable
from . import evaluation as evaluation_report
from . import histogram as histogram_report
from . import model as model_report
from . import sections
from . import synopsis as synopsis_report
from . import synthetic as synthetic_report
from .calibration import calibration
from .choice import choice

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def report(
    model: Reported,
    *,
    left: Fraction | None = None,
    limit: Fraction | None = None,
    quality: Sequence[tuple[str, float, float]] = (),
    check: tuple[Any, Any] | None = None,
    part: str = "",
    links: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """One self-contained HTML page about a fitted model, a synopsis or an evaluation, for readers who did not run it.

    `left` and `limit` are the ledger's, if the page shall show them. `quality` has a name, an accuracy and an AUC for
    each model to compare, measured on public rows or privately. `check` are rows and their labels, PUBLIC ones, on
    which the calibration of a model is measured. `part` says which of the rows this is about, if not all. `links` are
    other pages, by what they are called: file names beside this page.
    Only releases, public scales, the schema and receipts enter besides, so the same ones always make the same text.
    """
    kinds = {Synopsis: synopsis_report, Histogram: histogram_report, SyntheticTable: synthetic_report}
    kinds |= {Evaluation: evaluation_report}
    special: Any = next((pages for kind, pages in kinds.items() if isinstance(model, kind)), model_report)
    if special is model_report:
        check_is_fitted(model)
    outcome = model.outcome_
    left, limit = _balance(outcome, left, limit)
    shown = model.model_ if isinstance(model, AutoClassifier) else model
    first, *others = special.parts(shown, left, limit)
    parts = [
        sections.banner(outcome),
        sections.verdict(model.verdict_),
        first,
        sections.apart(part),
        sections.linked(links),
        choice(model),
        *others,
        calibration(shown, check) if special is model_report else "",
        sections.quality(quality),
        sections.promise(outcome),
        _footer(outcome, check is not None),
    ]
    return _page(special.title(shown), "\n".join(parts), _receipts(outcome) + _evaluation(model))


def _balance(outcome: Outcome[Any], left: Any, limit: Any) -> tuple[Fraction | None, Fraction | None]:
    """What is left in the ledger and its limit, as exact fractions; refused if they contradict the receipts."""
    left, limit = (None if value is None else exact(value, "left and limit") for value in (left, limit))
    if (left is not None and left < 0) or (limit is not None and (left or 0) + outcome.epsilon > limit):
        raise BadInput("what is left and what this run cost pass the limit: take both from its ledger")
    return left, limit


def _footer(outcome: Outcome[Any], checked: bool) -> str:
    times = sorted({receipt.time for receipt in outcome.receipts})
    versions = sorted({receipt.version for receipt in outcome.receipts})
    when = " to ".join(escaped(time) for time in dict.fromkeys([times[0], times[-1]]))
    source = "This page was made from released values, public noise scales, the schema and receipts; "
    source += "its calibration from rows that are public." if checked else "no row was read."
    return f"<footer>Charged {when} by Veil {', '.join(map(escaped, versions))}, says the ledger. {source}</footer>"


def _receipts(outcome: Outcome[Any]) -> str:
    """The receipts as a block of JSON."""
    return _block("receipts", [receipt.to_dict() for receipt in outcome.receipts])


def _evaluation(found: Reported) -> str:
    """What an evaluation found and of which model, as such a block; "" for what is none, or has no single number."""
    judged = found.judged_ if isinstance(found, Evaluation) else None
    if judged is None or not judged.receipts:
        return ""
    for measure in ("auc", "accuracy"):
        if hasattr(found, measure):
            low, high = getattr(found, f"{measure}_interval")
            numbers = {"value": getattr(found, measure), "low": low, "high": high}
            return _block(
                "evaluation", {"measure": measure, "file": judged.file, "hash": judged.receipts[-1].hash, **numbers}
            )
    return ""


def _block(name: str, content: Any) -> str:
    """Data for programs; no text in it can end the block."""
    text = json.dumps(content, indent=1, sort_keys=True).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">\n{text}\n</script>\n'


def _page(title: str, body: str, data: str) -> str:
    css = (resources.files(__package__) / "style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title, 100)}</title>
<style>
{css}</style>
</head>
<body>
<main>
{body}
</main>
{data}</body>
</html>
"""
