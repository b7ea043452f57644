"""Exact output laws: noise that follows a script, so that the code under test is run on every draw that matters."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import exp, factorial
from typing import Any

import numpy as np

from veil import Ledger, Source, open_source
from veil.audit.tables import SCHEMA
from veil.kernel.flip import permute_and_flip
from veil.kernel.noise import Noise

REACH = np.arange(-400, 401)  # noise values that are summed over; the rest has no weight that a double could show


class Scripted(Noise):
    """Noise that answers from lists, zeros where a list has run out, and remembers what it was asked for."""

    name, private = "scripted", False

    def __init__(self, **lists: Iterable[Any]) -> None:
        self.lists = {kind: list(values) for kind, values in lists.items()}
        self.asked: list[tuple[Any, ...]] = []

    def _take(self, kind: str, size: int, dtype: Any = np.int64) -> Any:
        values = self.lists.get(kind, [])
        taken, self.lists[kind] = values[:size], values[size:]
        return np.array(taken + [0] * (size - len(taken)), dtype)

    def words(self, size: int) -> Any:
        return self._take("words", size, np.uint64)

    def below(self, bound: int, size: int) -> Any:
        return self._take("below", size)

    def geometric(self, epsilon: Fraction, size: int) -> Any:
        return self._take("geometric", size)

    def gaps(self, epsilon: Fraction, threshold: int, size: int, limit: int | None = None) -> Any:
        drawn = self._take("gaps", size)
        return drawn if limit is None else np.minimum(drawn, limit)

    def discrete_laplace(self, epsilon: Fraction, size: int) -> Any:
        self.asked.append((epsilon, size))
        return self._take("laplace", size)

    def discrete_laplace_each(self, epsilons: Sequence[Fraction], sizes: Sequence[int]) -> Any:
        return [self.discrete_laplace(epsilon, size) for epsilon, size in zip(epsilons, sizes, strict=True)]

    def keys(self, rows: int, size: int) -> Any:
        order = np.array(self.lists.get("order", range(size)))
        return np.tile(np.argsort(order).astype(np.uint64), (rows, 1))

    def flips(self, gaps: Any, rate: Fraction) -> Any:
        self.asked.append((tuple(int(gap) for gap in gaps), rate))
        return np.array(self.lists.get("stops", gaps == 0), np.bool_)


def source_of(rows: Any, noise: Noise, schema: Any = SCHEMA, limit: int = 10**9) -> Source:
    return open_source(rows, schema, Ledger(limit, schema.name), noise)


@lru_cache
def winners(candidates: int) -> Any:
    """How often `permute_and_flip` returns each candidate, over all orders, for every pattern of coins."""
    table = np.zeros((2**candidates, candidates))
    for number, stops in enumerate(product((False, True), repeat=candidates)):
        for order in permutations(range(candidates)) if any(stops) else ():
            noise = Scripted(stops=stops, order=order)
            table[number, permute_and_flip(np.zeros(candidates, np.int64), Fraction(1), noise)] += 1
    return table / factorial(candidates)


def selection_laws(gaps: Any, rate: float) -> Any:
    """The law of `permute_and_flip` for every row of gaps to the best score."""
    gaps = np.asarray(gaps)
    stop = np.exp(-rate * gaps)[:, None, :]
    patterns = np.array(list(product((False, True), repeat=gaps.shape[1])))
    return np.where(patterns, stop, 1 - stop).prod(axis=2) @ winners(gaps.shape[1])


def laplace_pmf(rate: float) -> Any:
    """P(Z = z) for z in REACH."""
    return (1 - exp(-rate)) / (1 + exp(-rate)) * np.exp(-rate * np.abs(REACH))


def laplace_tail(rate: float, least: Any) -> Any:
    """P(Z >= least)."""
    least, a = np.asarray(least, np.float64), exp(-rate)
    return np.where(least >= 1, np.exp(-rate * least) / (1 + a), 1 - np.exp(-rate * (1 - least)) / (1 + a))


def sieve_law(
    scores: Sequence[int], threshold: int, rates: tuple[Any, Any], hits: int | None, query_noise: bool = True
) -> dict[str, float]:
    """The law of a sieve's answers to questions with these scores, the threshold's noise summed numerically."""
    levels = threshold + REACH
    tails = (laplace_tail(float(rates[1]), levels - s) if query_noise else (s >= levels) * 1.0 for s in scores)
    laws = {"": laplace_pmf(float(rates[0]))}
    for yes in tails:
        laws = dict(_next_answers(laws, yes, hits))
    return {answers: float(law.sum()) for answers, law in laws.items()}


def _next_answers(laws: dict[str, Any], yes: Any, hits: int | None) -> Iterable[tuple[str, Any]]:
    for answers, law in laws.items():
        if hits is not None and answers.count("y") == hits:
            yield answers, law
        else:
            yield answers + "y", law * yes
            yield answers + "n", law * (1 - yes)


def loss(law: dict[Any, float], other: dict[Any, float]) -> float:
    """The largest log ratio of two laws over single outcomes, which is the largest over all events."""
    outcomes = [key for key in law.keys() | other.keys() if max(law.get(key, 0), other.get(key, 0)) > 1e-300]
    ratios = np.array([[law.get(key, 0), other.get(key, 0)] for key in outcomes])
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(ratios[:, 0]) - np.log(ratios[:, 1])).max())


def counts_law(mixture: Iterable[tuple[float, Sequence[int]]], rates: Sequence[float], reach: int = 6) -> dict:
    """The law of counts with discrete Laplace noise, for a mixture of exact counts."""
    law: dict[tuple[int, ...], float] = {}
    mixture = list(mixture)
    for values in product(range(-reach, reach + 1), repeat=len(rates)):
        law[values] = sum(
            weight * np.prod([pmf(rate, v - e) for rate, v, e in zip(rates, values, exact, strict=True)])
            for weight, exact in mixture
        )
    return law


def pmf(rate: float, value: int) -> float:
    """P(Z = value) for discrete Laplace noise."""
    return (1 - exp(-rate)) / (1 + exp(-rate)) * exp(-rate * abs(value))


def neighbours(kinds: Sequence[Any], most: int, table: Callable[..., Any]) -> Iterable[tuple[Any, Any]]:
    """All tables of at most `most` rows of these kinds, each with every table that has one row more."""
    for numbers in product(range(most + 1), repeat=len(kinds)):
        if sum(numbers) <= most:
            listed = [kind for kind, n in zip(kinds, numbers, strict=True) for _ in range(n)]
            for kind in kinds:
                yield table(*listed), table(*sorted([*listed, kind], key=kinds.index))
