"""Confidence intervals for numbers computed from noisy counts. The distribution of the noise is public, so it is
simulated and added to the counts again. Nothing here touches rows or costs budget."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..plans.roc import ScoreCounts

Numbers = npt.NDArray[np.float64]
DRAWS, SEED = 2000, 9
ROUNDING = 1e-12
COARSE, FINE = 0.1, 0.001  # widths of an interval from which on two and three digits of a share are told
NEAR = np.geomspace(1e-8, 1, 60)
STEPS = np.concatenate([-NEAR[::-1], [0], NEAR])


class Interval(NamedTuple):
    """An interval, both ends included."""

    low: float
    high: float

    def texts(self, value: float) -> list[str]:
        """A share, which this interval belongs to, and the two ends, with no more digits than are known."""
        width = self.high - self.low
        digits = 2 if width >= COARSE else 3 if width >= FINE else 4
        return [f"{share:.{digits}f}" for share in (value, *self)]


def share_interval(share: float, top: float, bottom: float, tops: Numbers, bottoms: Numbers, level: float) -> Interval:
    """A confidence interval for the ratio of two numbers that were released as `top` and `bottom`; `tops` and `bottoms`
    are draws of their noise.

    For the true ratio s, top - s bottom is noise alone: the interval holds all s for which that is within the quantiles
    of the noise (Fieller 1940). If the noise is so large that any s is, it is [0, 1], as it should be.
    """
    share = min(max(share, 0.0), 1.0)  # rounding may have gone past the ends
    candidates = np.unique(np.clip(share + STEPS, 0, 1))
    seen = top - candidates * bottom
    low, high = np.quantile(tops[:, None] - candidates * bottoms[:, None], [(1 - level) / 2, (1 + level) / 2], axis=0)
    beyond = np.maximum(seen - high, low - seen)
    kept = np.flatnonzero((beyond <= 0) | (candidates == share))
    return Interval(_crossing(candidates, beyond, kept[0], -1), _crossing(candidates, beyond, kept[-1], 1))


def _crossing(candidates: Numbers, beyond: Numbers, inside: Any, step: int) -> float:
    """Where `beyond` crosses zero, interpolated between the last candidate inside and its neighbour."""
    outside = inside + step
    if not 0 <= outside < len(candidates) or beyond[inside] > 0:
        return float(candidates[inside])
    part = beyond[inside] / (beyond[inside] - beyond[outside])
    return float(candidates[inside] + part * (candidates[outside] - candidates[inside]))


class Pairs(NamedTuple):
    """Positives and negatives in each part of the score: released counts, the nearest possible ones, and simulated
    noise (draws x parts)."""

    released: tuple[Numbers, Numbers]
    possible: tuple[Numbers, Numbers]
    noise: tuple[Numbers, Numbers]


def drawn_noise(counts: ScoreCounts, seed: int = SEED) -> list[Numbers]:
    """Simulated noise for the counts of each class: a list of draws x parts."""
    chance = np.random.default_rng(seed)
    return [counts.noise(DRAWS, chance) for _ in counts.counts.T]


def pairs(counts: ScoreCounts, positive: int, others: tuple[int, ...], drawn: Sequence[Numbers] | None = None) -> Pairs:
    """The counts of positives and negatives; `drawn` is simulated noise of each class that several pairs share."""
    noise = drawn_noise(counts) if drawn is None else drawn
    groups = [(positive,), others]
    released = [counts.counts[:, list(group)].sum(axis=1) for group in groups]
    possible = [counts.possible(group) for group in groups]
    sums = [np.sum([noise[place] for place in group], axis=0) for group in groups]
    return Pairs((released[0], released[1]), (possible[0], possible[1]), (sums[0], sums[1]))


def ordered(positives: Numbers, negatives: Numbers) -> Any:
    """The number of pairs in which the positive scores higher, ties counting half; for counts, or draws x counts."""
    return (positives * (np.cumsum(negatives, axis=-1) - negatives / 2)).sum(axis=-1)


def area(found: Pairs) -> float:
    """The AUC of the possible counts."""
    positives, negatives = found.possible
    return float(ordered(positives, negatives) / (positives.sum() * negatives.sum()))


def area_interval(found: Pairs, tied: float, level: float) -> Interval:
    """A confidence interval for the exact AUC of these rows.

    The number of ordered pairs and that of all pairs are products of unbiased counts with independent noise, so their
    own noise has mean zero, whatever the true counts are.
    """
    (pairs_noise, all_noise), (released, total) = noise_of_pairs(found), released_pairs(found)
    seen = share_interval(area(found), released, total, pairs_noise, all_noise, level)
    p, q = found.possible
    missed = partly_missed(pairs_noise, within(p, q, tied) * p.sum() * q.sum(), seen)
    low, high = share_interval(area(found), released, total, missed, all_noise, level)
    return Interval(max(low - ROUNDING, 0.0), min(high + ROUNDING, 1.0))


def released_pairs(found: Pairs) -> tuple[float, float]:
    """The number of ordered pairs, and of all pairs, by the released counts."""
    positives, negatives = found.released
    return float(ordered(positives, negatives)), float(positives.sum() * negatives.sum())


def noise_of_pairs(found: Pairs) -> tuple[Numbers, Numbers]:
    """Simulated noise in the number of ordered pairs, and in that of all pairs."""
    (p, q), (z, w) = found.possible, found.noise
    more, less = z.sum(axis=1), w.sum(axis=1)
    in_order = ordered(p, w) + ordered(z, np.broadcast_to(q, z.shape)) + ordered(z, w)
    return in_order, p.sum() * less + q.sum() * more + more * less


def mean_area_interval(found: Sequence[Pairs], level: float) -> Interval:
    """A confidence interval for the mean of several exact AUCs, which the mean of `area` estimates.

    To first order an AUC is off by (ordered - AUC x all) / all, for released pairs and for noise alike; this is
    averaged over the pairs of classes.
    """
    shares, sizes = [area(one) for one in found], [one.possible[0].sum() * one.possible[1].sum() for one in found]
    released, noise = map(released_pairs, found), map(noise_of_pairs, found)
    off = np.mean([(top - s * all) / n for (top, all), s, n in zip(released, shares, sizes, strict=True)])
    draws = np.mean([(top - s * all) / n for (top, all), s, n in zip(noise, shares, sizes, strict=True)], axis=0)
    missed = float(np.mean([within(*one.possible, np.inf) for one in found]))
    middle, centre = float(np.mean(shares)), float(np.mean(shares) + off)
    low, high = around(centre, partly_missed(draws, missed, around(centre, draws, level)), level)
    return Interval(max(min(low, middle), 0.0), min(max(high, middle), 1.0))


def around(value: float, noise: Numbers, level: float) -> Interval:
    """The interval of all true values for which `value` lies within the quantiles of the noise."""
    low, high = np.quantile(noise, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value - float(high), value - float(low))


def within(positives: Numbers, negatives: Numbers, tied: float) -> float:
    """The most by which the order of rows within parts, which counts do not show, can change the AUC; approximate.

    A part that holds a share s of all pairs is assumed to be ordered at most 1.5 sqrt(s) of the way from ties to a
    perfect order, as smooth scores with an AUC up to 0.85 are; better ones hide a little more than this. Large parts
    that no threshold divided, though they had enough rows to find one, are ties.
    """
    share = positives * negatives / (positives.sum() * negatives.sum())
    rows = positives + negatives
    share = np.where((rows > tied) & (rows > 4 * rows.mean()), 0, share)
    return float((share * np.minimum(1.5 * np.sqrt(share), 1)).sum() / 2)


def partly_missed(noise: Numbers, missed: float, seen: Interval) -> Numbers:
    """The draws of noise, half of them minus the largest change that `within` allows, half of them minus the smallest.

    Within parts a model orders rows in the same direction as between them, or they are tied; if the interval of the AUC
    holds 0.5, either direction is possible. An interval from these draws has the stated coverage at both extremes, and
    more between them.
    """
    ends = (-missed if seen.low < 0.5 else 0.0), (missed if seen.high > 0.5 else 0.0)
    return np.asarray(noise - np.resize(ends, len(noise)))


def rate_bands(found: Pairs, level: float) -> tuple[tuple[Numbers, Numbers], tuple[Numbers, Numbers]]:
    """Lower and upper true positive rates, then false positive rates, at every threshold from the highest down."""
    bands = []
    for counts, noise in zip(found.possible, found.noise, strict=True):
        rates = falling_shares(counts)
        sums = np.cumsum((counts + noise)[:, ::-1], axis=1)
        moved = sums / np.maximum(sums[:, -1:], 1) - rates[1:]
        low, high = np.quantile(moved, [(1 - level) / 2, (1 + level) / 2], axis=0)
        ends = np.clip([rates[1:] - high, rates[1:] - low], 0, 1)
        ends[:, -1] = 1  # below all scores lie all rows, whatever their number
        bands.append((np.append(0.0, ends[0]), np.append(0.0, ends[1])))
    return bands[0], bands[1]


def falling_shares(counts: Numbers) -> Numbers:
    """The share of rows above each threshold, from 0 at the highest to 1 below the lowest: normalised prefix sums."""
    sums = np.append(0.0, np.cumsum(counts[::-1]))
    return np.asarray(sums / sums[-1])
