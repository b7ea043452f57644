"""veil audit: look for privacy violations in Veil's verbs, and in broken twins that must be caught.

An audit gives lower bounds, never a proof: see `harness`.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from textwrap import shorten
from typing import Any

import numpy as np

from ..kernel.noise import Noise, SeededNoise, SystemNoise
from .evaluation import evaluations
from .harness import Case, Finding, examine
from .models import models
from .ours import ours
from .pairs import pairs
from .people import people
from .words import words

__all__ = ["Case", "Finding", "audit", "cases", "examine", "facts", "look", "table"]

SUITE_ERROR = 0.001  # the chance that any bound of the whole suite is wrong, divided among its cases (Bonferroni)
SEED = 20_240_229  # of the quick audit, so that it gives the same result every time
HEADER = ("case", "kind", "claim", "bound", "caught", "at claim", "could see", "runs", "event")
Progress = Callable[[str, int, int], object]


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Every case: our verbs, each broken twin with its counterpart, whole models, evaluations, words, and people."""
    return (*ours(), *pairs(), *models(), *evaluations(), *words(), *people())


def look(number: int, deep: bool = False) -> Finding:
    """The finding of one case, by its place among `cases()`.

    The error allowed to the whole suite is divided among all its cases, so that all findings hold together.
    """
    case = cases()[number]
    noise: Noise = SystemNoise() if deep else SeededNoise(np.random.default_rng([SEED, number]))
    return examine(case, noise, case.deep if deep else case.quick, SUITE_ERROR / len(cases()))


def audit(deep: bool = False, progress: Progress | None = None, only: str | None = None) -> list[Finding]:
    """The findings of all cases, or of those whose name contains `only`.

    All bounds hold together with 99.9 % confidence. The quick audit has seeded noise (but for OpenDP's and for forks,
    which cannot be seeded), the deep one many more runs and the operating system's noise. `progress` is told the name
    of the next case, how many are done, and how many there are.
    """
    chosen = [number for number, case in enumerate(cases()) if only is None or only in case.name]
    tell = progress or (lambda name, done, total: None)
    findings = []
    for done, number in enumerate(chosen):
        tell(cases()[number].name, done, len(chosen))
        findings.append(look(number, deep))
    tell("done", len(chosen), len(chosen))
    return findings


def facts(finding: Finding) -> dict[str, Any]:
    """A finding for machines, under the names that `table` has."""
    kind = "broken" if finding.broken else "ours"
    numbers = (float(finding.claim), finding.bound, finding.caught, finding.at_claim, finding.ceiling, finding.trials)
    return dict(zip(HEADER, (finding.name, kind, *numbers, finding.event), strict=True))


def table(findings: Sequence[Finding]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A header and one row of text for each finding; "could see" is the largest bound that so many runs can give."""
    return HEADER, [
        (
            finding.name,
            "broken" if finding.broken else "ours",
            f"{finding.claim:g}",
            f"{finding.bound:.3f}",
            "yes" if finding.caught else "no",
            f"{finding.at_claim:.3f}",
            f"{finding.ceiling:.2f}",
            f"{finding.trials:,}",
            shorten(finding.event, 40, placeholder=" ..."),
        )
        for finding in findings
    ]
