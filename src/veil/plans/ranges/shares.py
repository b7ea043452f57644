"""The share of a node's rows in its left half: what a noisy difference of the halves tells about it.

A half may hold all rows, the rows may be spread evenly, or as the neighbours of the node lead to expect, or anything
between: the prior is a mixture of seventeen shapes, whose weights are learned from the released counts of each level.
All of it is post-processing.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaln

Numbers = npt.NDArray[np.float64]
BETAS = np.array([0.05, 0.2, 0.5, 1, 2.5, 6, 15, 40, 120, 400])  # symmetric beta distributions; then all, and half
UPRIGHT = len(BETAS) + 2  # shapes: all rows in one half, the betas, and exactly half of them in each
LEANING = 1 / (4 * (2 * np.array([6, 15, 40, 120]) + 1))  # variances around the expected share; last, exactly that
MANY = UPRIGHT + len(LEANING) + 1
SURE = 15  # standard deviations of noise, beyond which a node has rows enough for formulas instead of a grid
POINTS = np.sin(np.linspace(0, 1, 97) * np.pi / 2) ** 2  # shares at which the likelihood is computed
AT_ONCE = 1 << 10  # nodes, so that the grid stays in the cache
STEPS, LEARNED_FROM, PSEUDO_NODES = 15, 1 << 14, 4.0  # of expectation and maximisation
TINY = 1e-300


class Shapes(NamedTuple):
    """For each node and shape: the likelihood of what was counted, and the mean and mean square of the left share."""

    likelihood: Numbers
    mean: Numbers
    square: Numbers


def _masses() -> Numbers:
    """The probability of each point under each shape, shapes x points."""
    fine = (np.arange(97 * 64) + 0.5) / (97 * 64)
    nearest, share = np.rint(fine * 96).astype(int), np.sin(fine * np.pi / 2) ** 2
    masses = np.zeros((UPRIGHT, 97))
    masses[0, [0, -1]], masses[-1, 48] = 0.5, 1
    for place, power in enumerate(BETAS, 1):
        density = (4 * share * (1 - share)) ** (power - 0.5)  # in equal steps of the angle
        masses[place] = np.bincount(nearest, density, 97) / density.sum()
    return masses


MASSES = _masses()
MOMENTS = np.concatenate([MASSES * POINTS**power for power in range(3)]).T.astype(
    np.float32
)  # half the time of doubles
APART = (2 * POINTS - 1).astype(np.float32)
LEAST = 1e-30
VARIANCES = np.concatenate([[0.25], 1 / (4 * (2 * BETAS + 1)), [0], LEANING, [0]])  # of the share under each shape


def before_counting(even: Numbers, expected: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    """The mean and variance of each node's left share if nothing was counted below it: around the `even` share, that
    of its cells, or the `expected` one."""
    leaning = float(weights[UPRIGHT:].sum())
    apart = expected - even
    return even + leaning * apart, float(weights @ VARIANCES) + leaning * (1 - leaning) * apart**2


def shapes(difference: Numbers, rows: Numbers, deviation: Numbers, expected: Numbers) -> Shapes:
    """What each shape makes of a node with so many rows, whose halves differ by `difference`, with noise of this
    standard deviation: that of the difference of two Laplace variables. `expected` is the share that neighbours tell.
    """
    found = Shapes(*np.empty((3, len(rows), MANY)))
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        leaning = _leaning(difference[part], rows[part], deviation[part], expected[part])
        for whole, computed in zip(found, leaning, strict=True):
            whole[part, UPRIGHT:] = computed
        known = rows[part] > SURE * deviation[part]
        for some, rule in ((~known, _noisy), (known, _clear)):
            places = start + np.flatnonzero(some)
            for whole, computed in zip(found, rule(difference[places], rows[places], deviation[places]), strict=True):
                whole[places, :UPRIGHT] = computed
    return found


def _likelihood(distance: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """That of a distance in standard deviations, for the difference of two Laplace variables, up to a factor."""
    far = 2 * np.abs(distance)
    return np.asarray((1 + far) * np.exp(-far))


def _noisy(difference: Numbers, rows: Numbers, deviation: Numbers) -> Shapes:
    """By a grid of shares, for nodes whose rows do not stand out of the noise."""
    at, scale = ((part / deviation).astype(np.float32)[:, None] for part in (difference, rows))
    sums = (_likelihood(at - scale * APART) @ MOMENTS).astype(np.float64).reshape(-1, 3, UPRIGHT)
    likelihood = sums[:, 0] + LEAST
    return Shapes(likelihood, sums[:, 1] / likelihood, sums[:, 2] / likelihood)


def _clear(difference: Numbers, rows: Numbers, deviation: Numbers) -> Shapes:
    """By formulas, for nodes of many rows: a grid would be too coarse.

    A flat or hollow beta has about the density at the measured share, which is then the mean; a peaked one is a normal
    distribution, which draws the mean to a half.
    """
    share = np.clip((1 + difference / rows) / 2, 0, 1)[:, None]
    blur = (deviation / rows / 2)[:, None]  # the standard deviation of the share
    ends = _likelihood((difference[:, None] + rows[:, None] * [1, -1]) / deviation[:, None])
    in_left = ends[:, 1:] / (ends.sum(axis=1, keepdims=True) + TINY)
    hollow, peaked = BETAS[BETAS < 2], BETAS[BETAS >= 2]
    inside = np.clip(share, blur / 4, 1 - blur / 4)
    density = np.exp((hollow - 1) * np.log(inside * (1 - inside)) - betaln(hollow, hollow)) * 2 * blur
    prior = 1 / (4 * (2 * peaked + 1))
    both = prior + blur**2
    height = 2 * blur * np.exp(-((share - 0.5) ** 2) / (2 * both)) / np.sqrt(2 * np.pi * both)
    drawn = 0.5 + (share - 0.5) * prior / both
    half, same = np.full_like(share, 0.5), np.broadcast_to(share, density.shape)
    likelihood = [ends.mean(axis=1, keepdims=True), density, height, _likelihood(difference / deviation)[:, None]]
    mean = np.hstack([in_left, same, drawn, half])
    spread = [in_left * (1 - in_left), np.broadcast_to(blur**2, density.shape), prior * blur**2 / both, 0 * half]
    return Shapes(np.hstack(likelihood) + TINY, mean, np.hstack(spread) + mean**2)


def _leaning(difference: Numbers, rows: Numbers, deviation: Numbers, expected: Numbers) -> Shapes:
    """The shapes around the expected share: normal distributions, and that share for certain."""
    share, blur = ((1 + difference / rows) / 2)[:, None], (deviation / rows / 2)[:, None]
    centre, both = expected[:, None], LEANING + blur**2
    height = 2 * blur * np.exp(-((share - centre) ** 2) / (2 * both)) / np.sqrt(2 * np.pi * both)
    certain = _likelihood((difference - rows * (2 * expected - 1)) / deviation)[:, None]
    drawn = np.clip(centre + (share - centre) * LEANING / both, 0, 1)
    mean, spread = np.hstack([drawn, centre]), np.hstack([LEANING * blur**2 / both, 0 * centre])
    return Shapes(np.hstack([height, certain]) + TINY, mean, spread + mean**2)


def learned(found: Shapes, before: Numbers) -> Numbers:
    """The weights of the shapes that explain these nodes best, drawn to those of the level above (EM)."""
    step = -(-len(found.likelihood) // LEARNED_FROM) or 1
    likelihood, weights = found.likelihood[::step], before
    for _ in range(STEPS):
        parts = likelihood * weights
        weights = (parts / parts.sum(axis=1, keepdims=True)).sum(axis=0) + PSEUDO_NODES * before
        weights = weights / weights.sum()
    return weights


def posterior(found: Shapes, weights: Numbers) -> tuple[Numbers, Numbers]:
    """The mean and variance of each node's left share, over all shapes."""
    parts = found.likelihood * weights
    parts /= parts.sum(axis=1, keepdims=True)
    mean, square = (np.einsum("ns,ns->n", parts, of) for of in (found.mean, found.square))
    return mean, np.maximum(square - mean**2, 0)
