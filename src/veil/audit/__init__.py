"""veil audit: look for privacy violations in Veil's verbs, and in broken twins that must be caught.

An audit gives lower bounds, never a proof: see `harness`.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from signal import SIG_DFL, SIGINT, signal
from textwrap import shorten
from typing import Any

import numpy as np

from ..kernel import SeededNoise, SystemNoise
from ..kernel.noise import Noise
from .bins import bins
from .choice import choices
from .evaluation import evaluations
from .gradual import gradual
from .harness import Case, Finding, examine
from .histograms import histograms
from .kept import Kept
from .models import models
from .ours import ours
from .pairs import pairs
from .people import people
from .published import published
from .ranges import ranges
from .synthesis import syntheses
from .trees import trees
from .words import words

__all__ = ["Case", "Finding", "audit", "cases", "examine", "facts", "look", "table", "trials_of"]

SUITE_ERROR = 0.001  # the chance that any bound of the whole suite is wrong, divided among its cases (Bonferroni)
SEED = 20_240_229  # of the quick audit, so that it gives the same result every time
ENOUGH = 3  # times the runs of the quick audit, for a twin that is broken
HEADER = ("case", "kind", "claim", "bound", "caught", "at claim", "could see", "runs", "event")
Progress = Callable[[str, int, int], object]


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Every case: our verbs, broken twins with their counterparts, bins, histograms, choices, models and others."""
    asked = (*ours(), *pairs(), *bins(), *ranges(), *histograms(), *choices())
    return (*asked, *models(), *trees(), *evaluations(), *words(), *people(), *gradual(), *syntheses(), *published())


def look(number: int, deep: bool = False) -> Finding:
    """The finding of one case, by its index among `cases()`.

    The error probability of the whole suite is divided among all its cases, so that all findings hold together.
    """
    case = cases()[number]
    noise: Noise = SystemNoise() if deep else SeededNoise(np.random.default_rng([SEED, number]))
    return examine(case, noise, trials_of(case, deep), SUITE_ERROR / len(cases()))


def trials_of(case: Case, deep: bool) -> int:
    """The number of runs of a case on each table. More runs show a smaller excess, which only matters for ours: a
    broken twin has to be caught, for which a few times the runs of the quick audit are plenty."""
    if not deep:
        return case.quick
    return min(case.deep, ENOUGH * case.quick) if case.broken else case.deep


def audit(
    deep: bool = False,
    progress: Progress | None = None,
    only: str | None = None,
    keep: Path | None = None,
    jobs: int = 1,
) -> list[Finding]:
    """The findings of all cases, or of those whose name contains `only`.

    All bounds hold together with 99.9 % confidence. The quick audit has seeded noise (but for OpenDP's and for forks,
    which cannot be seeded), the deep one many more runs and the operating system's noise. `progress` is told the name
    of the next case, how many are done, and how many there are. Finished cases are kept in the file `keep`, and not
    repeated by the next audit of the same code; once all are done it is removed. `jobs` cases run at a time.
    """
    chosen = [number for number, case in enumerate(cases()) if only is None or only in case.name]
    tell, kept = progress or (lambda name, done, total: None), Kept(keep)
    found = {number: kept.get(cases()[number], trials_of(cases()[number], deep)) for number in chosen}
    waiting = [number for number in chosen if found[number] is None]
    tell(cases()[waiting[0]].name if waiting else "done", len(chosen) - len(waiting), len(chosen))
    for done, (number, finding) in enumerate(_looks(waiting, deep, jobs), len(chosen) - len(waiting) + 1):
        found[number] = finding
        kept.add(finding)
        coming = next((cases()[other].name for other in chosen if found[other] is None), "done")
        tell(coming, done, len(chosen))
    kept.done()
    return [finding for finding in found.values() if finding is not None]


def _looks(numbers: Sequence[int], deep: bool, jobs: int) -> Iterator[tuple[int, Finding]]:
    """The number and finding of each of these cases, in the order in which they are done."""
    if jobs == 1:
        yield from ((number, look(number, deep)) for number in numbers)
        return
    ended = SIGINT, SIG_DFL  # on Ctrl-C at once, and without a word
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=signal, initargs=ended) as pool:
        tasks = {pool.submit(look, number, deep): number for number in numbers}
        try:
            yield from ((tasks[task], task.result()) for task in as_completed(tasks))
        finally:
            pool.shutdown(cancel_futures=True)


def facts(finding: Finding) -> dict[str, Any]:
    """A finding as plain values for JSON, under the names that `table` uses."""
    kind = "broken" if finding.broken else "ours"
    numbers = (float(finding.claim), finding.bound, finding.caught, finding.at_claim, finding.ceiling, finding.trials)
    return dict(zip(HEADER, (finding.name, kind, *numbers, finding.event), strict=True))


def table(findings: Sequence[Finding]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and a row of text for each finding; "could see" is the largest bound that so many runs can give."""
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
