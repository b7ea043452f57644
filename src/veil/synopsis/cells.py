"""The cells of a release of counts: sums along its axes, weighted sums, and what the noise does to them."""

from collections.abc import Sequence
from math import exp, expm1, log, log1p, prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..errors import BadInput
from ..kernel import Release, SparseCounts

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
MOST_CELLS = 50_000_000  # of one marginal


def sizes(release: Release[Any]) -> tuple[int, ...]:
    """The number of groups on each axis, then the number of classes."""
    return (*(axis.size for axis in release.question.axes), len(release.classes))


def threshold_of(release: Release[Any]) -> int | None:
    """The noisy count above which a cell was released; None if all were."""
    return release.value.threshold if isinstance(release.value, SparseCounts) else None


def digits(codes: npt.NDArray[Any], radices: Sequence[int]) -> list[Integers]:
    """The place of each code on every axis, the last one fastest; for any number of cells."""
    found: list[Integers] = []
    for run in reversed(_runs(radices)):  # as much at a time as a machine number holds: Python's own are slow
        size = prod(run)
        codes, part = codes // size, (codes % size).astype(np.int64)
        for radix in reversed(run):
            part, place = np.divmod(part, radix)
            found.append(place)
    return found[::-1]


def _runs(radices: Sequence[int]) -> list[list[int]]:
    """The radices in runs whose product is less than 2^62."""
    found: list[list[int]] = [[]]
    for radix in radices:
        if prod(found[-1]) * radix >= 2**62:
            found.append([])
        found[-1].append(radix)
    return found


def sums(release: Release[Any], places: Sequence[int]) -> tuple[Integers, Integers]:
    """The counts along these axes, summed over all others, and how many noisy counts are in each sum."""
    shape = sizes(release)
    kept = [shape[place] for place in places]
    if prod(kept) > MOST_CELLS:
        raise BadInput("this marginal has too many cells: name fewer columns, or use synopsis.release_.columns()")
    if isinstance(release.value, SparseCounts):
        return _sparse_sums(release.value, digits(release.value.codes, shape), kept, places)
    others = tuple(place for place in range(len(shape)) if place not in places)
    left = np.asarray(release.value).reshape(shape).sum(axis=others)
    order = np.argsort(np.argsort(places))  # the axes that are left are in order: give each its asked place
    return left.transpose(order), np.full(kept, prod(shape[place] for place in others))


def _sparse_sums(
    value: SparseCounts, found: list[Integers], kept: list[int], places: Sequence[int]
) -> tuple[Integers, Integers]:
    cells = np.zeros(len(value.counts), np.int64)
    for place, size in zip(places, kept, strict=True):
        cells = cells * size + found[place]
    counts, terms = np.zeros((2, prod(kept)), np.int64)
    np.add.at(counts, cells, value.counts)
    np.add.at(terms, cells, 1)
    return counts.reshape(kept), terms.reshape(kept)


def weighted(release: Release[Any], weights: Sequence[Numbers]) -> tuple[float, float]:
    """The sum of all counts, each times its weights on every axis, and the sum of the squares of these products."""
    if isinstance(release.value, SparseCounts):
        found = digits(release.value.codes, sizes(release))
        products = np.ones(len(release.value.codes))
        for weight, place in zip(weights, found, strict=True):
            products *= weight[place]
        return float(products @ release.value.counts), float(products @ products)
    table = np.asarray(release.value, np.float64).reshape(sizes(release))
    for weight in reversed(weights):
        table = table @ weight
    return float(table), prod(float(weight @ weight) for weight in weights)


def variance(scale: float) -> float:
    """The variance of discrete Laplace noise: 2 a / (1 - a)^2 with a = exp(-1 / scale)."""
    return 2 * exp(-1 / scale) / expm1(-1 / scale) ** 2 if scale else 0.0


def noise_alone(release: Release[Any]) -> tuple[float, float]:
    """How many cells pass the threshold of a sparse release by noise alone if all are empty, and with how many rows.

    P(noise > t) = a^(t + 1) / (1 + a), and beyond t it is t + 1 / (1 - a) on average.
    """
    scale, threshold = release.noise_scale, release.value.threshold
    if not scale:
        return 0.0, 0.0
    a, cells = exp(-1 / scale), log(release.question.size * len(release.classes))
    passed = exp(min(cells - (threshold + 1) / scale - log1p(a), 700))
    return passed, passed * (threshold - 1 / expm1(-1 / scale))


def sum_error(release: Release[Any], terms: npt.ArrayLike, confidence: float = 0.95) -> Numbers:
    """How far a sum of so many noisy counts lies from the truth, at most, with this confidence.

    Exact for one. For more, the normal quantile z of the sum plus what its heavier tails add (Cornish and Fisher):
    (z^3 - 3 z) / 24 of its excess kurtosis, which is (1 + 4 a + a^2) / (2 a) for one count and falls with their number.
    """
    scale, terms = release.noise_scale, np.asarray(terms, np.float64)
    a = exp(-1 / scale) if scale else 0.0
    if a == 0:
        return np.zeros(terms.shape)
    z = float(-ndtri((1 - confidence) / 2))
    heavier = max(z**3 - 3 * z, 0) / 24 * (1 + 4 * a + a * a) / (2 * a)
    many = np.ceil(np.sqrt(terms) * sqrt(variance(scale)) * (z + heavier / np.maximum(terms, 1)))
    return np.where(terms == 1, release.error(confidence), many)
