"""PriROC as published (Stoddard, Chen, Machanavajjhala 2014), for comparison on PUBLIC rows only.

NOT PRIVATE as computed: floating-point noise from a seeded generator, and a noise scale that depends on the rows. What
private rows get is `plans.roc`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

Numbers = npt.NDArray[np.float64]
Curve = tuple[Numbers, Numbers]
Chance = np.random.Generator
CHOOSING = 0.2  # of epsilon for the medians; the paper's own share is not in its text
SPACES, HALVINGS = 64, 9  # thresholds of the first two methods, which the paper does not say; 2^9 <= rows, as it says
SMALL = 16  # up to so many parts plain noise is better than that of wavelets


def published_sensitivity(values: Numbers, low: float, high: float, beta: float) -> float:
    """The smooth sensitivity of the median for tables of one size (Nissim, Raskhodnikova, Smith 2007).

    It bounds what a row more or less can do as well: see `smooth_sensitivity` for what that is exactly.
    """
    x, middle = _padded(values, low, high), (len(values) + 1) // 2
    below, above = np.arange(middle + 1), np.arange(middle, len(x))
    steps = above[None] - below[:, None] - 1
    return float(((x[above][None] - x[below][:, None]) * np.exp(-beta * np.maximum(steps, 0))).max())


def smooth_sensitivity(values: Numbers, low: float, high: float, beta: float) -> float:
    """The smooth sensitivity of the lower median when rows are added and removed, exactly.

    The median jumps from x_i to x_j once all rows between them are removed and as many rows lie up to x_i as from
    x_j on, or one fewer: that takes j - i - 1 removals and what the two sides differ by. An empty table has its median
    in the middle of the bounds, to and from which a single row moves it.
    """
    x, rows = _padded(values, low, high), len(values)
    first, second = np.triu_indices(rows + 2, 1)
    lead = first - (rows + 1 - second)
    steps = second - first - 1 + np.maximum(np.maximum(lead, -1 - lead), 0)
    held = (first > 0) | (second <= rows)  # both ends made up: there is a row left to stand between them, or none
    steps = steps + np.where(held, 0, 1)
    jumps = (x[second] - x[first]) * np.exp(-beta * steps)
    alone = np.abs(x[1:-1] - (low + high) / 2).max(initial=0) * np.exp(-beta * max(rows - 1, 0))
    return float(max(jumps.max(), alone, (high - low) / 2 * np.exp(-beta * rows)))


def _padded(values: Numbers, low: float, high: float) -> Numbers:
    return np.concatenate([[low], np.sort(values), [high]])


def recursive_medians(
    values: Numbers, low: float, high: float, depth: int, epsilon: float, chance: Chance, tight: bool
) -> list[float]:
    """Noisy medians of medians with Cauchy noise, in order; one that falls outside its interval is its middle.

    Published: noise of 6 S / epsilon with S at epsilon / 6. Tight, and enough for Cauchy noise: 2 S / epsilon, at
    epsilon / 2, with the exact sensitivity for added and removed rows.
    """
    if depth == 0:
        return []
    inside = np.sort(values[(values > low) & (values <= high)])
    part = 2 if tight else 6
    spread = (smooth_sensitivity if tight else published_sensitivity)(inside, low, high, epsilon / part)
    median = inside[(len(inside) + 1) // 2 - 1] if len(inside) else (low + high) / 2
    noisy = median + part * spread / epsilon * chance.standard_cauchy()
    cut = float(noisy) if low < noisy < high else (low + high) / 2
    if not low < cut < high:  # an interval of neighbouring floats
        return []
    more = (depth - 1, epsilon, chance, tight)
    return [*recursive_medians(values, low, cut, *more), cut, *recursive_medians(values, cut, high, *more)]


def privelet(counts: Numbers, epsilon: float, chance: Chance) -> Numbers:
    """Counts with noise on their Haar wavelets (Xiao, Wang, Gehrke 2010); with plain noise if there are few.

    One row moves one sum and a difference on each level by one, so each gets noise of (levels + 1) / epsilon.
    """
    if len(counts) <= SMALL:
        return counts + chance.laplace(0, 1 / epsilon, len(counts))
    levels = int(np.ceil(np.log2(len(counts))))
    sums, differences = np.pad(counts.astype(np.float64), (0, 2**levels - len(counts))), []
    for _ in range(levels):
        differences.append(sums[::2] - sums[1::2])
        sums = sums[::2] + sums[1::2]
    scale = (levels + 1) / epsilon
    sums = sums + chance.laplace(0, scale, 1)
    for level in reversed(differences):
        noisy = level + chance.laplace(0, scale, len(level))
        sums = np.column_stack([sums + noisy, sums - noisy]).ravel() / 2
    return sums[: len(counts)]


def laplace(scores: Numbers, positive: Any, epsilon: float, chance: Chance, spaces: int = SPACES) -> Curve:
    """Noise on every point of the curve by itself, for all of them together."""
    cuts = np.linspace(0, 1, spaces + 1)[1:-1]
    sums = [np.cumsum(part[::-1]) for part in _between(scores, positive, cuts)]
    scale = 2 * spaces / epsilon
    return _curve(*(part + chance.laplace(0, scale, len(part)) for part in sums))


def fixed_space(scores: Numbers, positive: Any, epsilon: float, chance: Chance, spaces: int = SPACES) -> Curve:
    """Even thresholds, counts between them by wavelets, half of epsilon for each label."""
    parts = _between(scores, positive, np.linspace(0, 1, spaces + 1)[1:-1])
    return _curve(*(np.cumsum(privelet(part, epsilon / 2, chance)[::-1]) for part in parts))


def medians(
    scores: Numbers, positive: Any, epsilon: float, chance: Chance, *, tight: bool = False, depth: int = HALVINGS
) -> Curve:
    """Recursive medians as thresholds; published: half of the rest of epsilon for each label, tight: all for both."""
    to_choose = CHOOSING * epsilon / depth
    cuts = np.unique(recursive_medians(scores, 0.0, 1.0, depth, to_choose, chance, tight))
    rest = (1 - CHOOSING) * epsilon * (1 if tight else 0.5)
    return _curve(*(np.cumsum(privelet(p, rest, chance)[::-1]) for p in _between(scores, positive, cuts)))


def tight_medians(scores: Numbers, positive: Any, epsilon: float, chance: Chance) -> Curve:
    """Recursive medians with the tighter constants."""
    return medians(scores, positive, epsilon, chance, tight=True)


PUBLISHED: dict[str, Callable[[Numbers, Any, float, Chance], Curve]] = {
    "laplace": laplace,
    "fixed-space": fixed_space,
    "recursive-medians": medians,
    "recursive-medians, tight": tight_medians,
}


def _between(scores: Numbers, positive: Any, cuts: Numbers) -> tuple[Numbers, Numbers]:
    """The positives and the negatives between the cuts, lowest first."""
    places = np.searchsorted(cuts, scores, side="left")
    return tuple(np.bincount(places[kind], minlength=len(cuts) + 1) for kind in (positive, ~positive))  # type: ignore[return-value]


def _curve(true: Numbers, false: Numbers) -> Curve:
    """False and true positive rates of noisy running sums, made to rise (Hay et al. 2010)."""
    rates = []
    for sums in (false, true):
        rising = np.maximum(isotonic_regression(sums).x, 0)
        rates.append(np.append(0.0, np.minimum(rising / max(rising[-1], 1.0), 1)))
        rates[-1][-1] = 1.0
    return rates[0], rates[1]


def exact_curve(scores: Numbers, positive: Any) -> Curve:
    """The ROC curve itself."""
    values, places = np.unique(scores, return_inverse=True)
    sums = [np.cumsum(np.bincount(places[k], minlength=len(values))[::-1]) for k in (~positive, positive)]
    false, true = (np.append(0.0, part / max(part[-1], 1)) for part in sums)
    return false, true


def area_between(first: Curve, second: Curve) -> float:
    """The area between two curves of straight lines, some of which may be upright."""
    ends = np.unique(np.concatenate([first[0], second[0]]))
    left, right = ends[:-1], ends[1:]
    start, end = (_at(first, left, x) - _at(second, left, x) for x in (left, right))
    sizes = np.abs(start) + np.abs(end)
    crossing = (start**2 + end**2) / np.where(sizes > 0, 2 * sizes, 1)
    return float(((right - left) * np.where(start * end >= 0, sizes / 2, crossing)).sum())


def _at(curve: Curve, left: Numbers, x: Numbers) -> Numbers:
    """The height at x of the line that holds sway to the right of `left`."""
    false, true = curve
    place = np.clip(np.searchsorted(false, left, side="right") - 1, 0, len(false) - 2)
    run, rise = false[place + 1] - false[place], true[place + 1] - true[place]
    return np.asarray(true[place] + np.where(run > 0, rise / np.where(run > 0, run, 1), 0) * (x - false[place]))
