"""What noise leaves open about numbers made of noisy counts: the law of the noise is public, so it is drawn again, on
top of what the counts say, as often as it takes. Nothing here touches rows, and nothing costs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..plans.roc import ScoreCounts

Numbers = npt.NDArray[np.float64]
DRAWS, SEED = 2000, 9
ROUNDING = 1e-12
NEAR = np.geomspace(1e-8, 1, 60)
STEPS = np.concatenate([-NEAR[::-1], [0], NEAR])


class Interval(NamedTuple):
    """From low to high."""

    low: float
    high: float


def share_interval(share: float, top: float, bottom: float, tops: Numbers, bottoms: Numbers, level: float) -> Interval:
    """Where a share may lie that noisy `top` and `bottom` were released of, with noise such as `tops` and `bottoms`.

    For the true share s, top - s bottom is noise alone; all s for which it is no larger than noise is (Fieller 1940).
    With so much noise that any share will do this is everything from 0 to 1, as it should be.
    """
    share = min(max(share, 0.0), 1.0)  # rounding may have led beyond
    candidates = np.unique(np.clip(share + STEPS, 0, 1))
    seen = top - candidates * bottom
    low, high = np.quantile(tops[:, None] - candidates * bottoms[:, None], [(1 - level) / 2, (1 + level) / 2], axis=0)
    beyond = np.maximum(seen - high, low - seen)
    kept = np.flatnonzero((beyond <= 0) | (candidates == share))
    return Interval(_crossing(candidates, beyond, kept[0], -1), _crossing(candidates, beyond, kept[-1], 1))


def _crossing(candidates: Numbers, beyond: Numbers, inside: Any, step: int) -> float:
    """Where `beyond` passes zero, in a straight line between the last candidate inside and the next one."""
    outside = inside + step
    if not 0 <= outside < len(candidates) or beyond[inside] > 0:
        return float(candidates[inside])
    part = beyond[inside] / (beyond[inside] - beyond[outside])
    return float(candidates[inside] + part * (candidates[outside] - candidates[inside]))


class Pairs(NamedTuple):
    """Two classes, each by part of the score: released counts, the nearest possible ones, and drawn noise."""

    released: tuple[Numbers, Numbers]
    possible: tuple[Numbers, Numbers]
    noise: tuple[Numbers, Numbers]


def drawn_noise(counts: ScoreCounts, seed: int = SEED) -> list[Numbers]:
    """Noise as the counts of each class have it."""
    chance = np.random.default_rng(seed)
    return [counts.noise(DRAWS, chance) for _ in counts.counts.T]


def pairs(counts: ScoreCounts, positive: int, others: tuple[int, ...], drawn: Sequence[Numbers] | None = None) -> Pairs:
    """The positives and the negatives; `drawn` is the noise of each class, if it is not to be drawn for them alone."""
    noise = drawn_noise(counts) if drawn is None else drawn
    groups = [(positive,), others]
    released = [counts.counts[:, list(group)].sum(axis=1) for group in groups]
    possible = [counts.possible(group) for group in groups]
    sums = [np.sum([noise[place] for place in group], axis=0) for group in groups]
    return Pairs((released[0], released[1]), (possible[0], possible[1]), (sums[0], sums[1]))


def ordered(positives: Numbers, negatives: Numbers) -> Any:
    """Pairs of which the positive has the higher score, ties by half; of counts, or of draws x counts."""
    return (positives * (np.cumsum(negatives, axis=-1) - negatives / 2)).sum(axis=-1)


def area(found: Pairs) -> float:
    """The area under the curve of the possible counts."""
    positives, negatives = found.possible
    return float(ordered(positives, negatives) / (positives.sum() * negatives.sum()))


def area_interval(found: Pairs, tied: float, level: float) -> Interval:
    """Where the exact AUC of these rows may lie.

    Pairs in order and pairs in all are products of unbiased counts with independent noise, so their own noise has
    mean zero whatever the true counts are.
    """
    (pairs_noise, all_noise), (released, total) = noise_of_pairs(found), released_pairs(found)
    seen = share_interval(area(found), released, total, pairs_noise, all_noise, level)
    p, q = found.possible
    missed = partly_missed(pairs_noise, within(p, q, tied) * p.sum() * q.sum(), seen)
    low, high = share_interval(area(found), released, total, missed, all_noise, level)
    return Interval(max(low - ROUNDING, 0.0), min(high + ROUNDING, 1.0))


def released_pairs(found: Pairs) -> tuple[float, float]:
    """Pairs in order, and pairs in all, of the released counts."""
    positives, negatives = found.released
    return float(ordered(positives, negatives)), float(positives.sum() * negatives.sum())


def noise_of_pairs(found: Pairs) -> tuple[Numbers, Numbers]:
    """What noise does to the number of pairs in order, and to that of all pairs."""
    (p, q), (z, w) = found.possible, found.noise
    more, less = z.sum(axis=1), w.sum(axis=1)
    in_order = ordered(p, w) + ordered(z, np.broadcast_to(q, z.shape)) + ordered(z, w)
    return in_order, p.sum() * less + q.sum() * more + more * less


def mean_area_interval(found: Sequence[Pairs], level: float) -> Interval:
    """Where the mean of several exact AUC may lie, of which the mean of `area` is an estimate.

    To first order a share is off by (in order - share x all) / all, of released pairs and of noise alike; these are
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
    """What lies as far from the value as noise goes."""
    low, high = np.quantile(noise, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value - float(high), value - float(low))


def within(positives: Numbers, negatives: Numbers, tied: float) -> float:
    """How much AUC the order of rows within parts can hold, about, on top of what the order of the parts shows.

    A part that holds a share s of all pairs is taken to be ordered at most 1.5 sqrt(s) of the way from ties to a
    perfect order, as smooth scores of an AUC up to 0.85 are; better ones hide a little more than this. Large parts that
    no threshold divided, though there were rows enough to find one, are ties.
    """
    share = positives * negatives / (positives.sum() * negatives.sum())
    rows = positives + negatives
    share = np.where((rows > tied) & (rows > 4 * rows.mean()), 0, share)
    return float((share * np.minimum(1.5 * np.sqrt(share), 1)).sum() / 2)


def partly_missed(noise: Numbers, missed: float, seen: Interval) -> Numbers:
    """The draws of noise, half of them less the most that was missed, half of them less the least.

    Within parts a model orders rows as it does between them, or they are tied; where it is not certain on which side of
    0.5 the area is, the order may be either way. An interval from these draws holds as often as it says at both ends,
    and more often between them.
    """
    ends = (-missed if seen.low < 0.5 else 0.0), (missed if seen.high > 0.5 else 0.0)
    return np.asarray(noise - np.resize(ends, len(noise)))


def rate_bands(found: Pairs, level: float) -> tuple[tuple[Numbers, Numbers], tuple[Numbers, Numbers]]:
    """Low and high true positive rates, then false ones, at every threshold from the highest down."""
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
    """The share of rows above every threshold, from the highest, which none is above, to below the lowest."""
    sums = np.append(0.0, np.cumsum(counts[::-1]))
    return np.asarray(sums / sums[-1])
