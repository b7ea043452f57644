"""The experiments of a third paper again: selecting the words of texts (Stoddard, Chen and Machanavajjhala 2014).

Ten folds, stratified by class; the number of the fold is also the seed. All methods of a fold ask one source, and each
has a budget of its own. Private threshold testing is here as a baseline that is NOT private: it needs exact counts,
which the experiments have because the texts are public.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB

from veil.compare.data import FOLDS
from veil.compare.summary import interval
from veil.errors import BadInput
from veil.files.tables import new_file, read_rows
from veil.kernel import Budget, Ledger, Source, open_source
from veil.plans.selecting.features import Selected
from veil.plans.selecting.selection import select_above, select_best
from veil.plans.sparse_naive_bayes import sparse_naive_bayes
from veil.schema import Schema, Text
from veil.schema.bags import Bags

TEXTS = {"sms_spam": 1 << 13, "sentiment140_20k": 1 << 15, "reuters_earn": 1 << 15}  # buckets, near the paper's words
BOUND = {"sms_spam": 100, "sentiment140_20k": 30, "reuters_earn": 600}  # words that no text exceeds: no truncation
EPSILONS = (1.0, 0.1)
KEPT, WORDS, SPLIT = 300, 5, (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
SHARE, SHARE_OF_CLUSTERS = 0.5, 0.2  # of the budget, for selecting, as in the paper
SAMPLED = (1, 2, 5, 10, 20, 50)
FEW = 10  # words, where each costs a part of the budget
ABOVE = 20  # words are truly above the threshold
MOST_OF_A_TEXT = 20  # words that count where counts are held against a threshold
QUICK = 2  # folds
SCORES = ("count", "difference", "purity", "entropy", "gini", "majority")
WAYS = ("perturb", "cluster", "peel")
RULES = ("paper", "veil")
KEY = ("data", "method", "score", "rules", "share", "words_per_row", "epsilon", "fold")
MEASURED = ("accuracy", "auc", "words", "precision", "recall", "f1", "jaccard")
Progress = Callable[[str, int, int], None]
Row = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One way to select words, how its budget is divided, and how naive Bayes learns from what was selected."""

    method: str
    score: str = ""
    rules: str = "paper"
    share: float = 0.0
    words_per_row: int = WORDS

    @property
    def private(self) -> bool:
        return self.method not in ("without privacy", "majority", "threshold testing")


@dataclass(frozen=True, eq=False)
class Fold:
    """A source of the rows to learn from, their words for what is not private, and the rows to be judged by."""

    source: Source
    matrix: Any
    labels: npt.NDArray[Any]
    test: Bags
    truth: npt.NDArray[Any]
    number: int

    @property
    def threshold(self) -> int:
        """Rows that a word must have to be above; of public rows, so it may be exact."""
        return int(np.sort(self.counts)[-ABOVE])

    @property
    def above(self) -> set[int]:
        return set(np.flatnonzero(self.counts >= self.threshold).tolist())

    @property
    def counts(self) -> npt.NDArray[Any]:
        return np.asarray(self.matrix.sum(axis=0)).ravel()


def reproduce_selection(
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = lambda name, done, total: None,
) -> pa.Table:
    """A row for every text, trial, epsilon and fold: accuracy and area under the curve of naive Bayes, how many words
    were selected, and how they agree with the words that are truly above the threshold.

    `quick` takes two of the ten folds. What the Parquet file `out` holds is not repeated.
    """
    folds, rows = QUICK if quick else FOLDS, _held(out)
    known = {tuple(row[name] for name in KEY) for row in rows}
    for place, name in enumerate(TEXTS):
        texts = _Texts(name)
        for number in range(folds):
            todo = [plan for plan in _plan(name, number) if tuple(plan[name] for name in KEY) not in known]
            progress(f"{name}, fold {number}", place * folds + number, len(TEXTS) * folds)
            rows += [_result(plan, texts.fold(number)) for plan in todo]
            _keep(rows, out)
    return pa.Table.from_pylist(rows)


def selection_summary(results: pa.Table) -> list[Row]:
    """The mean over folds of accuracy and F1, and the margin of the 95 % interval of accuracy, for every trial."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in results.to_pylist():
        groups.setdefault(tuple(row[name] for name in (*KEY[:-1], "private")), []).append(row)
    found = []
    for key, rows in groups.items():
        accuracy, margin = interval([row["accuracy"] for row in rows])
        f1 = interval([row["f1"] for row in rows if not np.isnan(row["f1"])])[0]
        short = {"accuracy": accuracy, "margin": margin, "f1": f1}
        rounded = {name: None if value is None else round(value, 4) for name, value in short.items()}
        found.append({**dict(zip((*KEY[:-1], "private"), key, strict=True)), "folds": len(rows), **rounded})
    return found


def trials(bound: int) -> Iterator[Trial]:
    """Everything that is compared."""
    yield from (Trial("majority"), Trial("without privacy"))
    for rules in RULES:
        yield Trial("no selection", rules=rules, words_per_row=bound)
        yield from (Trial("no selection", rules=rules, words_per_row=some) for some in SAMPLED)
        for way in WAYS:
            share = SHARE_OF_CLUSTERS if way == "cluster" else SHARE
            yield from (Trial(way, score, rules, share) for score in SCORES)
        yield from (Trial(way, "count", rules, SHARE) for way in ("check", "sieve", "above", "threshold testing"))
    yield from (Trial("perturb", "count", share=share) for share in SPLIT if share != SHARE)
    yield from (Trial("perturb", "count", share=SHARE, words_per_row=some) for some in SAMPLED if some != WORDS)


def _plan(name: str, number: int) -> Iterator[Row]:
    for trial in trials(BOUND[name]):
        for epsilon in EPSILONS if trial.share or trial.private else (np.inf,):
            yield {"data": name, **asdict(trial), "private": trial.private, "epsilon": float(epsilon), "fold": number}


def _result(plan: Row, fold: Fold) -> Row:
    """The plan with what came of it."""
    trial, epsilon = Trial(**{name: plan[name] for name in Trial.__dataclass_fields__}), plan["epsilon"]
    found = dict.fromkeys(MEASURED, float("nan"))
    if trial.method in ("majority", "without privacy"):
        return {**plan, **found, **_exact(trial.method, fold)}
    budget, words = Budget(epsilon), None
    if trial.share:
        to_select, budget = budget.split(trial.share, 1 - trial.share)
        words = list(_select(trial, fold, to_select).places)
        found |= {"words": float(len(words)), **agreement(set(words), fold.above)}
    if words == []:
        return {**plan, **found, **_exact("majority", fold)}
    scorer = sparse_naive_bayes(fold.source, budget, words=words, words_per_row=trial.words_per_row, rules=trial.rules)
    scores = scorer.scores({fold.source.schema.texts[0].name: fold.test})
    return {**plan, **found, **_judged(scores / 2.0**20, fold)}


def agreement(found: set[Any], true: set[Any]) -> dict[str, float]:
    """Precision, recall, F1 and Jaccard's index of a found set against the true one; all 1 if they are equal."""
    both, either = len(found & true), len(found | true)
    precision, recall = (both / len(part) if part else float(not either) for part in (found, true))
    f1 = 2 * both / (len(found) + len(true)) if either else 1.0
    return {"precision": precision, "recall": recall, "f1": f1, "jaccard": both / either if either else 1.0}


def _select(trial: Trial, fold: Fold, budget: Budget) -> Selected:
    source, given = fold.source, dict[str, Any](score=trial.score, words_per_row=trial.words_per_row)
    if trial.method in WAYS:
        k = FEW if trial.method == "peel" else KEPT
        return select_best(source, budget, k=k, method=trial.method, **given)
    if trial.method == "threshold testing":
        return threshold_testing(fold, budget)
    way = {"check": "peel", "sieve": "sieve", "above": "perturb"}[trial.method]
    given["words_per_row"] = MOST_OF_A_TEXT
    return select_above(source, budget, threshold=fold.threshold, at_most=ABOVE, method=way, **given)


def threshold_testing(fold: Fold, budget: Budget) -> Selected:
    """NOT PRIVATE: the words whose exact count is above one noisy threshold, as the paper has it."""
    noise = np.random.default_rng(fold.number).laplace(scale=float(1 / budget.epsilon))
    return Selected(tuple(np.flatnonzero(fold.counts > fold.threshold + noise).tolist()))


def _exact(method: str, fold: Fold) -> Row:
    """Of methods without privacy."""
    if method == "majority":
        return {"accuracy": float((fold.truth == np.bincount(fold.labels).argmax()).mean()), "auc": 0.5}
    ones = np.ones(len(fold.test.words))
    test = csr_matrix(
        (ones, fold.test.words.astype(np.int32), fold.test.starts), (len(fold.test), fold.matrix.shape[1])
    )
    return _judged(BernoulliNB().fit(fold.matrix, fold.labels).predict_log_proba(test), fold)


def _judged(scores: npt.NDArray[Any], fold: Fold) -> Row:
    auc = roc_auc_score(fold.truth, scores[:, 1] - scores[:, 0])
    return {"accuracy": float((scores.argmax(axis=1) == fold.truth).mean()), "auc": float(auc)}


class _Texts:
    """A data set of texts, encoded once, and its folds, of which the last is kept."""

    def __init__(self, name: str) -> None:
        rows, declared = _read(name)
        text = Text(name="text", buckets=TEXTS[name])
        label = declared.get(str(declared.label))
        self.schema = Schema(name=name, label=label.name, column=[text, label])
        codes: Any = self.schema.encode(rows)
        bags, self.labels = codes["text"], codes[label.name].astype(np.int64)
        ones, shape = np.ones(len(bags.words), np.int8), (len(bags), text.size)
        self.bags, self.matrix = bags, csr_matrix((ones, bags.words.astype(np.int32), bags.starts), shape)
        self._last: tuple[int, Fold] | None = None

    def fold(self, number: int) -> Fold:
        """One of ten folds for testing: a tenth of every class, dealt out in a random order."""
        if self._last is None or self._last[0] != number:
            shuffled = np.random.default_rng(0).permutation(len(self.labels))
            test = np.sort(shuffled[self.labels[shuffled].argsort(kind="stable")][number::FOLDS])
            self._last = number, self._apart(test, number)
        return self._last[1]

    def _apart(self, test: npt.NDArray[Any], seed: int) -> Fold:
        train = np.setdiff1d(np.arange(len(self.labels)), test)
        names = np.array(self.schema.classes, object)[self.labels[train]]
        rows = {"text": self.matrix[train], self.schema.column[1].name: names}
        source = open_source(rows, self.schema, Ledger(10**9, self.schema.name), seed)
        return Fold(source, self.matrix[train], self.labels[train], self.bags[test], self.labels[test], seed)


def _read(name: str) -> tuple[Any, Schema]:
    path = Path(os.environ.get("VEIL_DATA") or "../shared/data", f"{name}.csv.gz")
    if not path.is_file():
        raise BadInput(f"the papers' data are needed and {name} cannot be found: set VEIL_DATA to their folder")
    return read_rows(path), Schema.read(path.with_name(f"{name}.schema.toml"))


def _held(out: str | os.PathLike[str] | None) -> list[Row]:
    return pyarrow.parquet.read_table(out).to_pylist() if out is not None and Path(out).exists() else []


def _keep(rows: list[Row], out: str | os.PathLike[str] | None) -> None:
    if out is not None:
        with new_file(out, force=True) as draft:
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows), draft)
