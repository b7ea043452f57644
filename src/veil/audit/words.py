"""Audits of the verbs that count and select words, of the selectors, and of the broken ways beside ours."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernel import WEIGHT_UNIT, Budget, Difference, Entropy, Gini, Ledger, Logistic, Majority, Purity, Rows, Source
from ..kernel.noise import Noise
from ..models import (
    KDiscernibilitySelect,
    PrivateClusterSelect,
    PrivatePipeline,
    PrivateSelectKBest,
    PrivateSelectThreshold,
    SparseLogisticRegressionClassifier,
    SparseNaiveBayesClassifier,
)
from ..plans.selecting.clusters import clusters
from ..questions import Scorer, bag
from ..schema import Categorical, Schema, Text
from . import broken_words as broken
from .harness import Case, Runs, View
from .pairs import pair
from .tables import EMPTY, LONE, ONE, PLENTY, SCHEMA, TWO, Table, asking, between, opening

LABEL = Categorical(name="label", values=("yes", "no"))
WORDS = Schema(name="audit", label="label", column=[LABEL, Text(name="text", words=broken.VOCABULARY, words_per_row=2)])
ALL, TWO_WORDS = bag(WORDS), bag(WORDS, words=(0, 1))
ZERO_OR_ONE = {"counts": between(0, 1)}
PULL = WEIGHT_UNIT * 0.98 / 4  # a row's slope of 1 over the penalty, 4 over a part of 0.98
NAMED: dict[str, Any] = {"quick": 700, "deep": 10_000}


def texts(*listed: tuple[str, str]) -> Table:
    """A table of these labels and texts."""
    return {"label": [label for label, _ in listed], "text": [text for _, text in listed]}


NOTHING, ANT, PAIR = texts(), texts(("yes", "ant")), texts(("yes", "ant bee"))
MANY_WORDS = texts(("yes", "ant bee cat dog"))
ONE_EACH = [("no", "bee"), ("yes", "cat"), ("no", "dog")]
TIPPED = texts(*ONE_EACH), texts(*ONE_EACH, ("yes", "ant bee"))  # the difference of ant rises, that of bee falls


def words() -> Iterator[Case]:
    """Every verb about words, every selector, and the broken twins with their counterparts."""
    yield from _counts()
    yield from _choices()
    yield from _selectors()
    yield from _surprised()
    yield from _twins()


def _counts() -> Iterator[Case]:
    both = asking(lambda source: source.count(ALL, ONE).value[:2, 0], WORDS)
    yield Case("count, words", 1, (NOTHING, PAIR), both, "a row moves two counts", 4_000, 100_000, ZERO_OR_ONE)
    drawn = opening(lambda source: source.count(ALL, ONE).value[:4, 0], schema=WORDS)
    yield Case("count, drawn words", 1, (NOTHING, MANY_WORDS), drawn, "two of four words", 1_000, 20_000, ZERO_OR_ONE)
    alone = asking(lambda source: source.count(bag(WORDS, words=(0,)), ONE).value[:, 0], WORDS)
    yield Case("count, few words", 1, (NOTHING, PAIR), alone, "one word: less noise", 3_000, views=ZERO_OR_ONE)
    sparse = asking(lambda source: tuple(source.count_sparse(ALL, ONE, threshold=1).value.codes.tolist()), WORDS)
    yield Case("count_sparse, words", 1, (NOTHING, PAIR), sparse, "which counts pass", 1_000, 40_000)


def _choices() -> Iterator[Case]:
    for score in (Rows(), Difference(), Purity(), Gini(), Entropy(), Majority()):
        best = asking(partial(_best, score=score), WORDS)
        yield Case(f"choose_best, {type(score).__name__}", 1, TIPPED, best, "two of six words", 700, 30_000)
    one = asking(lambda source: int(source.choose_best(TWO_WORDS, Difference(), ONE, count=1).value[0]), WORDS)
    yield Case("choose_best, one", 1, TIPPED, one, "one of two, moved apart", 4_000, 200_000)
    above = asking(lambda source: _seen(source.choose_above(ALL, Difference(), 1, TWO, most=1).value), WORDS)
    yield Case("choose_above", 2, TIPPED, above, "the winner and its noisy score", 1_500, 40_000)
    sifted = asking(lambda source: tuple(source.sift(ALL, Difference(), 1, TWO, most=2).value.tolist()), WORDS)
    pulls = {"quarters of the row's pull": lambda seen: np.clip(4 * seen.min(axis=1) // PULL, 0, 4)}
    weights = asking(_weights, WORDS)
    yield Case("minimise, words", 2, (NOTHING, PAIR), weights, "a row pulls two weights", 600, 10_000, pulls)
    yield Case("sift", 2, TIPPED, sifted, "two hits among six words", 1_000, 40_000)


def _best(source: Source, score: Any) -> tuple[int, ...]:
    return tuple(source.choose_best(ALL, score, ONE, count=2).value.tolist())


def _weights(source: Source) -> npt.NDArray[Any]:
    """The weights of the row's words in a regression that is sure of the other class, so that the row has slope 1."""
    return np.asarray(source.minimise(Logistic(), TWO_WORDS, TWO, label=0, offsets=[-30.0]).value[:, 0])


def _seen(found: npt.NDArray[Any]) -> tuple[int, ...]:
    """Indices, and scores clipped to where tables can differ."""
    return tuple(found[:, 0].tolist()) + tuple(np.clip(found[:, 1], -1, 3).tolist())


def _selectors() -> Iterator[Case]:
    about = "from the rows to what is kept"
    ways: list[tuple[str, dict[str, Any]]] = [("peel", {"k": 1}), ("perturb", {"k": 3})]
    for how, settings in (*ways, ("perturb", {"k": 3, "score": "count"})):
        name = f"PrivateSelectKBest, {how} by {settings.get('score', 'gini')}"
        yield Case(name, 2, TIPPED, fitting(PrivateSelectKBest, how=how, **settings), about, **NAMED)
    for how in ("peel", "sieve", "perturb"):
        given: dict[str, Any] = {"score": "difference", "threshold": 1, "at_most": 2, "how": how}
        yield Case(
            f"PrivateSelectThreshold, {how}", 2, TIPPED, fitting(PrivateSelectThreshold, **given), about, **NAMED
        )
    yield Case("PrivateClusterSelect", 2, TIPPED, fitting(PrivateClusterSelect, k=2, groups=3), about, **NAMED)
    columns = fitting(KDiscernibilitySelect, SCHEMA, k=1)
    yield Case("KDiscernibilitySelect", 2, (EMPTY, LONE), columns, about, **NAMED)
    views: dict[str, View] = {"counts of the row's words": between(0, 1)}
    yield Case("SparseNaiveBayesClassifier", 2, (NOTHING, PAIR), _learned, about, **NAMED, views=views)
    yield Case("PrivatePipeline", 2, (NOTHING, PAIR), _pipeline, about, **NAMED)


def fitting(kind: Callable[..., Any], schema: Schema = WORDS, **settings: Any) -> Runs:
    """Runs that fit a selector anew: the selected features, in order."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        return [tuple(_fit(kind(**settings), table, noise, schema).selected_) for _ in range(trials)]

    return runs


def _fit(model: Any, table: Table, noise: Noise, schema: Schema = WORDS) -> Any:
    ledger = Ledger(PLENTY, schema.name)
    return model.set_params(epsilon=TWO.epsilon, schema=schema, ledger=ledger, random_state=noise).fit(table)


def _learned(table: Table, noise: Noise, trials: int) -> Any:
    """Runs of naive Bayes: the released counts of the row's words."""
    fitted = (_fit(SparseNaiveBayesClassifier(), table, noise) for _ in range(trials))
    return np.array([model.releases_[-1].value[:2, 0] for model in fitted])


def _pipeline(table: Table, noise: Noise, trials: int) -> Any:
    """Runs of a pipeline: the selected word, and its released count."""
    steps = [PrivateSelectKBest(k=1, score="count"), SparseNaiveBayesClassifier()]
    fitted = (_fit(PrivatePipeline(steps), table, noise) for _ in range(trials))
    return [(model.steps_[0].selected_[0], int(np.clip(model.releases_[-1].value[0, 0], 0, 1))) for model in fitted]


def _pulled(kind: type[SparseLogisticRegressionClassifier], times: int = 1) -> Runs:
    """Runs of a regression: the weights of the row's words, relative to the most that one row can move them."""

    def runs(table: Table, noise: Noise, trials: int) -> Any:
        fitted = (_fit(kind(), table, noise) for _ in range(trials))
        return np.array([model.releases_[-1].value[:2, 0] / (0.95 * PULL * times) for model in fitted])

    runs.__doc__ = kind.__doc__
    return runs


class _TripleLogistic(SparseLogisticRegressionClassifier):
    """NOT PRIVATE: a logistic regression of words that costs three times what the ledger is told."""

    def _plan(self, source: Source, budget: Budget, totals: Any = None) -> Scorer:
        return super()._plan(source, Budget(3 * budget.epsilon))


def _surprised() -> Iterator[Case]:
    """Cases with one row of a class that no other has: the regression is sure of the other class, and moves most."""
    crowd = [("yes", "")] * 400
    tables = texts(*crowd), texts(*crowd, ("no", "ant bee"))
    views: dict[str, View] = {
        "the weaker pull, in quarters": lambda seen: np.clip(4 * seen.min(axis=1) // 1, 0, 4),
        "both pulls, in quarters": lambda seen: np.round(4 * np.clip(seen, 0, 1).sum(axis=1)),
    }
    ours, twin = _pulled(SparseLogisticRegressionClassifier), _pulled(_TripleLogistic, 3)
    runs: dict[str, Any] = {**NAMED, "views": views}
    yield from pair("sparse-logistic for three times its price", 2, tables, twin, ours, **runs)


def _twins() -> Iterator[Case]:
    first = {"whether ant and bee are selected": lambda seen: np.asarray(seen)[:, :2]}
    ours = asking(lambda source: _mask(source.sift(ALL, Rows(), 1, ONE, most=2).value), WORDS)
    yield from pair("threshold testing of words", 1, (NOTHING, ANT), broken.threshold_testing, ours, views=first)

    lead = {"selected words of the row minus others": lambda seen: seen[:, 0] - seen[:, 1]}
    few: dict[str, Any] = {"quick": 1_200, "deep": 10_000, "views": lead}
    yield from pair("noise-cut of words", 1, (NOTHING, PAIR), broken.noise_cut, asking(_capped, WORDS), **few)

    counts = asking(lambda source: source.count(ALL, ONE, by_class=False).value[:, 0], WORDS)
    many: dict[str, Any] = {"quick": 4_000, "deep": 100_000, "views": {"counts": lambda seen: seen[:, :2].clip(0, 1)}}
    yield from pair("one word a row", 1, (NOTHING, PAIR), broken.one_word_a_row, counts, **many)

    crowd = [("yes", "ant")] * 10
    tables = texts(*crowd), texts(*crowd, ("yes", "ant"))
    upper = {"sum or score of the upper cluster": lambda seen: seen[:, -1]}
    yield from pair(
        "clusters of words by exact counts", 1, tables, broken.clustered_exactly, asking(_clusters, WORDS), views=upper
    )


def _mask(places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.isin(np.arange(len(broken.VOCABULARY)), places).astype(np.int64)


def _capped(source: Source) -> npt.NDArray[Any]:
    """How many of the row's words and of two others a sieve with two hits selects."""
    found = source.sift(bag(WORDS, words=(0, 1, 2, 3)), Rows(), 0, ONE, most=2).value
    return np.array([(found < 2).sum(), (found >= 2).sum()])


def _clusters(source: Source) -> npt.NDArray[Any]:
    """Which words are in the best clusters, and how far the centres are from zero."""
    found = clusters(source, Budget(1), ALL, Rows(), 2, groups=2)
    return np.array([*sorted(found.places), *np.clip(found.scores or (), 0, 20)]).astype(np.int64)
