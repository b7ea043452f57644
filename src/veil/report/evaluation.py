"""What the report of an evaluation says that others do not."""

from fractions import Fraction
from typing import Any

import numpy as np

from ..display import number
from ..evaluate import RocCurve, RocCurves
from . import sections
from .figures import roc_figure
from .words import escaped, listed

READ = """<p>Every point of the line is a threshold: how many of the negatives are above it (across) and how many of the
positives (up). The band is where the exact points may lie, each with 95 % confidence over the noise. The AUC is the
area under the line.</p>"""
NOISE = """<p><strong>This curve is noise.</strong> The exact AUC may be nearly anything: epsilon is too small for so
few rows.</p>"""


def title(found: Any) -> str:
    """What the page is called."""
    return f"evaluation on {found.schema_.name}"


def parts(found: Any, left: Fraction | None, limit: Fraction | None) -> list[str]:
    """The sections, from what it is to what was released."""
    curves = found.curves if isinstance(found, RocCurves) else {found.positive: found}
    drawn = "".join(_curve(curve, place) for place, curve in enumerate(curves.values(), 1))
    facts = {"Judges": f"how well scores tell {listed(found.schema_.classes)} apart"}
    return [
        _headline(found, left, limit),
        sections.section(
            "The curve" if len(curves) == 1 else "The curves", READ, f'<div class="figures">{drawn}</div>'
        ),
        sections.asked(found, "thresholds chosen privately, and rows of each class counted between them", facts),
        sections.cost(found, left, limit),
        sections.noise(found),
    ]


def _headline(found: Any, left: Fraction | None, limit: Fraction | None) -> str:
    tiles = _tiles(found)
    apart = "" if found.private_ else "NOT "
    heading = f"How good a classifier is on “{escaped(found.schema_.name)}”, measured {apart}privately"
    lead = "A ROC curve of test rows, made from noisy counts." + sections.hidden(found)
    return sections.headline(heading, lead, [*tiles, *sections.cost_tiles(found, left, limit)])


def _tiles(found: Any) -> list[tuple[str, str]]:
    """What was measured; of several classes those that are known, where their mean is not."""
    low, high = found.auc_interval
    if isinstance(found, RocCurves) and not found.leads:
        areas = [curve.auc for curve in found.known.values()]
        known = f"{len(areas)} of {len(found.curves)}"
        return [(known, "classes are known"), (f"{min(areas):.3f} to {max(areas):.3f}", "the AUC of each of these")]
    name = "M of Hand and Till" if isinstance(found, RocCurves) else "AUC"
    return [(f"{found.auc:.3f}", name), (f"{low:.3f} to {high:.3f}", "holds the exact one, with 95 % confidence")]


def _curve(curve: RocCurve, place: int) -> str:
    caption = f"<figcaption>{escaped(curve.positive)} <small>AUC {curve.auc:.3f}</small></figcaption>"
    header = ["score at least", "false positives", "from", "to", "true positives", "from", "to"]
    rates = np.array([curve.fpr, *curve.fpr_band, curve.tpr, *curve.tpr_band])[:, 1:-1].T
    cuts = curve.thresholds[1:-1]
    rows = [(number(cut), *(f"{rate:.3f}" for rate in row)) for cut, row in zip(cuts, rates, strict=True)]
    listing = sections.table("Thresholds", header, rows)
    return f"{NOISE if curve.only_noise else ''}<figure>{caption}{roc_figure(curve, place)}</figure>{listing}"
