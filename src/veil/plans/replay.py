"""Replay: a stand-in for Source that returns saved releases, so that a plan makes the same model again for nothing."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..kernel import Budget, Release
from ..schema import Schema


class Replay:
    """Answers `count` and `choose_each` with saved releases, in the order in which they were asked.

    A release whose verb, question or shape is not what the plan asks for, as in a file of another version, is refused.
    """

    def __init__(self, schema: Schema, releases: "Iterable[Release[Any]]") -> None:
        self.schema, self._coming = schema, iter(releases)

    def count(self, partition: Any, budget: Any, *, by_class: bool = True) -> "Release[Any]":
        release = self._next("count")
        shape = (partition.size, len(self.schema.classes) if by_class else 1)
        _insist(release.question.describe() == partition.describe() and release.value.shape == shape)
        return release

    def choose_each(self, partition: Any, candidates: Any, *asked: Any, **how: Any) -> "Release[Any]":
        release = self._next("choose_each")
        _insist(release.value.shape == (partition.size,) and release.value.max() < len(candidates))
        return release

    def per_row(self, budget: Budget) -> Fraction:
        return budget.per_row(self.schema.rows_per_person)

    def split(self, partition: Any) -> "tuple[Replay, ...]":
        return (self,) * int(partition.size)

    def _next(self, verb: str) -> "Release[Any]":
        release = next(self._coming, None)
        _insist(release is not None and release.receipt.verb.replace("_words", "") == verb)  # as earlier versions say
        assert release is not None
        return release


def _insist(right: bool) -> None:
    if not right:
        raise BadInput(
            "the released answers are not those that this version of Veil would ask for: fit the model again"
        )
