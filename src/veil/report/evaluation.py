"""The sections that only reports of evaluations have."""

from fractions import Fraction

import numpy as np

from ..display import amount, number
from ..evaluate import Evaluation, RocCurve, RocCurves
from ..markup import escaped, listed
from . import sections
from .figures import roc_figure

READ = """<p>Every point of the line is a threshold: how many of the negatives are above it (across) and how many of the
positives (up). The band is where the exact points may lie, each with 95 % confidence over the noise. The AUC is the
area under the line.</p>"""
NOISE = """<p><strong>This curve is noise.</strong> The exact AUC may be nearly anything: epsilon is too small for so
few rows.</p>"""


WORDS = {"roc": "a ROC curve", "auc": "the area under its ROC curve", "accuracy": "the share it predicts right"}
SAME = """<p class="banner" role="alert"><strong>Flattered, maybe</strong>By its receipts the model was trained on the
rows of the ledger that was charged here. If the rows that judge it were among them, these figures are too good: a
model knows the rows it was trained on. Rows can be set apart before training, with <code>veil train --test-share</code>
or <code>Source.split_at_random</code>.</p>"""


def title(found: Evaluation) -> str:
    """The title of the page."""
    return f"evaluation on {found.schema_.name}"


def parts(found: Evaluation, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections of the page in order, as HTML."""
    curves = found if isinstance(found, (RocCurve, RocCurves)) else None
    facts = {"Judges": _judged(found), "By": f"how well it tells {listed(found.schema_.classes)} apart"}
    words = (
        "thresholds chosen privately, and rows of each class counted between them" if curves else "noisy counts of rows"
    )
    return [
        (SAME if found.same_rows_ else "") + _headline(found, left, limit),
        _curves(curves) if curves else sections.section("What was found", sections.table("Numbers", *found.table())),
        sections.asked(found.outcome_, words, facts),
        sections.cost(found.outcome_, left, limit, judged=True),
        sections.noise(found.outcome_),
    ]


def _judged(found: Evaluation) -> str:
    """The model that was evaluated, as far as it is known: file, kind, method, data set, cost, and its last receipt."""
    model = found.judged_
    if model is None or not model.receipts:
        return escaped(model.kind if model else "unknown", 100)
    last = model.receipts[-1]
    about = f"{model.kind} ({model.method}) of {model.data} for epsilon {amount(model.epsilon or Fraction(0))}"
    file = f"<code>{escaped(model.file)}</code>: " if model.file else ""
    return f"{file}{escaped(about, 200)}, entry {last.number} of ledger {last.ledger[:8]}, hash {last.hash[:12]}"


def _curves(found: RocCurve | RocCurves) -> str:
    curves = found.curves if isinstance(found, RocCurves) else {found.positive: found}
    drawn = "".join(_curve(curve, place) for place, curve in enumerate(curves.values(), 1))
    name = "The curve" if len(curves) == 1 else "The curves"
    return sections.section(name, READ, f'<div class="figures">{drawn}</div>', *map(_points, curves.values()))


def _headline(found: Evaluation, left: Fraction | None, limit: Fraction | None) -> str:
    apart, model = "" if found.private_ else "NOT ", found.judged_
    what = f"A {model.method.replace('-', ' ')} model" if model and model.method else "A classifier"
    heading = f"How good a classifier is on “{escaped(found.schema_.name)}”, measured {apart}privately"
    named = f" from the file {model.file}" if model and model.file else ""
    lead = f"{escaped(what + named, 150)}, judged by {WORDS.get(found.method, 'noisy counts')} of test rows."
    tiles = [*_tiles(found), *sections.cost_tiles(found.outcome_, left, limit)]
    return sections.headline(heading, lead + sections.hidden(found.outcome_), tiles)


def _tiles(found: Evaluation) -> list[tuple[str, str]]:
    """The measured number and its interval; with several classes, those that are known if their mean is not."""
    if isinstance(found, RocCurves) and not found.leads:
        areas = sorted({curve.auc_interval.texts(curve.auc)[0] for curve in found.known.values()})
        known = f"{len(found.known)} of {len(found.curves)}", "classes are known"
        return [known, (" to ".join(dict.fromkeys((areas[0], areas[-1]))), "the AUC of these")]
    for name in ("auc", "accuracy"):
        if hasattr(found, name):
            value, low, high = getattr(found, f"{name}_interval").texts(getattr(found, name))
            words = "M of Hand and Till" if isinstance(found, RocCurves) else {"auc": "AUC"}.get(name, name)
            return [(value, words), (f"{low} to {high}", "holds the exact one, with 95 % confidence")]
    return []


def _curve(curve: RocCurve, place: int) -> str:
    area = curve.auc_interval.texts(curve.auc)[0]
    caption = f"<figcaption>{escaped(curve.positive)} <small>AUC {area}</small></figcaption>"
    return f"<figure>{NOISE if curve.only_noise else ''}{caption}{roc_figure(curve, place)}</figure>"


def _points(curve: RocCurve) -> str:
    """All points of a curve, as a table below the drawings."""
    header = ["score at least", "false positives", "from", "to", "true positives", "from", "to"]
    rates = np.array([curve.fpr, *curve.fpr_band, curve.tpr, *curve.tpr_band])[:, 1:-1].T
    cuts = curve.thresholds[1:-1]
    rows = [(number(cut), *(f"{rate:.3f}" for rate in row)) for cut, row in zip(cuts, rates, strict=True)]
    return sections.table(f"Thresholds for {escaped(curve.positive)}", header, rows)
