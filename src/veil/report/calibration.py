"""The calibration section of a report: how reliable probabilities are, on public rows or by the model's counts."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..models.displays import tree_nodes
from ..plans.finish import probabilities
from ..plans.trees.pruning import class_shares
from ..questions import CellScores
from . import sections
from .figures import reliability_figure

BINS = 10
NORMAL = 1.96  # deviations on either side that hold 95 %
Numbers = npt.NDArray[np.float64]

ON_ROWS = """<p>Each dot stands for the rows whose class was said with about the same probability: how sure the model
was, and how often it was right; on the line it can be taken at its word. Bars are 95 % intervals. It was measured on
rows that were handed to this report as public ones; the promise does not cover them.</p>"""
ON_COUNTS = """<p>Each dot stands for the leaves or cells that say their class with about the same probability: how sure
they are, and the share of that class among the released counts, with what the noise leaves open (95 %). No row was read
for it. These are the counts that the model was made from, so it shows what smoothing did to them, and is too kind to
the model: only public rows that it has not seen can tell whether it may be taken at its word.</p>"""
NOTHING = """<p>Not measured: it takes rows, and none was read for this page. <code>report(model, check=(rows,
labels))</code> draws it from rows that are public.</p>"""


@dataclass(frozen=True)
class Point:
    """A group of rows: mean predicted probability, share predicted right with its interval, and number of rows."""

    said: float
    right: float
    low: float
    high: float
    rows: float


def calibration(model: Any, check: tuple[Any, Any] | None) -> str:
    """The section as HTML; rows and labels to check on must be public."""
    points = on_counts(model) if check is None else on_rows(model, *check)
    if not points:
        return sections.section("Calibration", NOTHING)
    rows = sum(point.rows for point in points)
    off = sum(point.rows * abs(point.said - point.right) for point in points) / rows
    words = f"<p>Over all {rows:,.0f} rows, said and right differ by {off:.3f} on average.</p>"
    listed = [(f"{p.said:.3f}", f"{p.right:.3f}", f"{p.low:.3f} to {p.high:.3f}", f"{p.rows:,.0f}") for p in points]
    listing = sections.table("Calibration", ["said, on average", "right", "95 %", "rows"], listed)
    figure = reliability_figure([(p.said, p.right, p.low, p.high) for p in points])
    return sections.section(
        "Calibration", ON_COUNTS if check is None else ON_ROWS, words, f"<figure>{figure}</figure>", listing
    )


def on_rows(model: Any, rows: Any, labels: Any) -> list[Point]:
    """Points from public rows and their labels."""
    said = model.predict_proba(rows)
    truth = np.asarray([str(label) for label in labels])
    if len(truth) != len(said):
        raise BadInput("check needs one label for each row")
    right = np.asarray([str(label) for label in model.classes_])[said.argmax(axis=1)] == truth
    sure = said.max(axis=1)
    places = _bins(sure)
    return [_of_rows(sure[places == place], right[places == place]) for place in np.unique(places)]


def _of_rows(sure: Numbers, right: Any) -> Point:
    """A point with Wilson's interval for the share predicted right."""
    n, share = len(right), float(np.mean(right))
    centre = (share + NORMAL**2 / (2 * n)) / (1 + NORMAL**2 / n)
    half = NORMAL * sqrt(share * (1 - share) / n + NORMAL**2 / (4 * n**2)) / (1 + NORMAL**2 / n)
    return Point(float(sure.mean()), share, max(centre - half, 0.0), min(centre + half, 1.0), n)


def on_counts(model: Any) -> list[Point]:
    """Points from the counts in a model's leaves or cells; [] if it has no such counts."""
    if not model.releases_:  # of the best of several tries
        return []
    found = _of_tree(model) if model.method == "tree" else _of_cells(model)
    if found is None:
        return []
    said, counts, noise = found
    sure, best = said.max(axis=1), said.argmax(axis=1)
    held = np.maximum(counts, 0)
    right, places = held[np.arange(len(held)), best], _bins(sure)
    points = [
        _of_counts(sure[here], right[here], held[here].sum(axis=1), noise[here])
        for here in (places == place for place in np.unique(places))
    ]
    return [point for point in points if point.rows >= 1]


def _of_counts(sure: Numbers, right: Numbers, rows: Numbers, noise: Numbers) -> Point:
    total, hits = float(rows.sum()), float(right.sum())
    share = hits / max(total, 1e-9)
    error = NORMAL * sqrt(float((noise**2).sum())) / max(total, 1e-9)
    weights = rows if total > 0 else None
    said = float(np.average(sure, weights=weights))
    return Point(said, share, max(share - error, 0.0), min(share + error, 1.0), total)


def _of_tree(model: Any) -> tuple[Numbers, Numbers, Numbers] | None:
    try:
        root, prior = tree_nodes(model)
    except BadInput:  # of a file that another version wrote
        return None
    leaves = root.leaves()
    said = np.array(class_shares(root, prior))
    return said, np.array([leaf.counts for leaf in leaves]), np.array([leaf.deviation for leaf in leaves])


def _of_cells(model: Any) -> tuple[Numbers, Numbers, Numbers] | None:
    """Predicted class shares of the cells, their counts and noise; None unless released as one dense table."""
    release, scorer = model.releases_[-1], model.scorer_
    if not isinstance(scorer, CellScores) or not isinstance(release.value, np.ndarray) or release.question is None:
        return None
    if release.question.describe() != scorer.partition.describe() or release.value.shape != scorer.table.shape:
        return None
    noise = np.full(len(release.value), release.deviation)
    return probabilities(scorer.table), release.value.astype(np.float64), noise


def _bins(sure: Numbers) -> npt.NDArray[np.int64]:
    return np.minimum((sure * BINS).astype(np.int64), BINS - 1)
