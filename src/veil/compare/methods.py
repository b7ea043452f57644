"""The methods that can be compared: Veil's own, some that are not private, and whatever others add to `OTHERS`."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import CategoricalNB

from ..errors import BadInput
from ..kernel import VERSION
from ..models import METHODS as OURS
from ..schema import Categorical
from .data import Split

MOST_CATEGORIES = 255  # that boosting takes; of more, it takes the codes for numbers
Probabilities = npt.NDArray[np.float64]
Answer = tuple[Probabilities, float, float]  # probabilities, seconds to fit, peak memory in MB
Fit = Callable[[Split, float, int], Callable[[Any], Probabilities]]


@dataclass(frozen=True)
class Method:
    """A way to get class probabilities for the test rows of a split: `run(split, epsilon, seed, fits=1)`.

    The time is that of one fit, the shortest if there are several.
    """

    name: str
    run: Callable[..., Answer]
    private: bool = True
    delta: float = 0.0
    version: str = ""


class Impossible(Exception):
    """Raised when a method has no answer; the message says why."""


OTHERS: dict[str, Callable[[str], Method]] = {}  # makes a method of its name; refuses if it cannot run here


def find(name: str) -> Method:
    """The method of this name, ready to run."""
    if name in OURS:
        return Method(name, partial(here, partial(_ours, name)), version=f"veil {VERSION}")
    if name in NOT_PRIVATE:
        return Method(name, partial(here, NOT_PRIVATE[name]), private=False)
    if name in OTHERS:
        return OTHERS[name](name)
    raise BadInput(f"there is no method {name!r}: choose one of {', '.join([*OURS, *NOT_PRIVATE, *OTHERS])}")


def here(fit: Fit, split: Split, epsilon: float, seed: int, fits: int = 1) -> Answer:
    """Fit in this process, and measure the time from the pandas frame on. Returns probabilities, seconds and MB."""
    seconds = []
    for _ in range(fits):
        start = time.perf_counter()
        predict = fit(split, epsilon, seed)
        seconds.append(time.perf_counter() - start)
    memory = peak_memory()
    return predict(split.test), min(seconds), memory


def peak_memory() -> float:
    """The largest amount of memory that this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # what `resource` tells there includes what the starting process held
        return int(status.read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _ours(name: str, split: Split, epsilon: float, seed: int) -> Callable[[Any], Probabilities]:
    model = OURS[name](epsilon=epsilon, schema=split.schema, random_state=seed).fit(split.train, split.labels)
    return lambda rows: in_order(model.predict_proba(rows), model.classes_, split.schema.classes)


def _ceiling(split: Split, epsilon: float, seed: int) -> Callable[[Any], Probabilities]:
    """Gradient boosting on the schema's codes, as a ceiling; with small trees, since large ones overfit small
    tables."""
    categorical = [isinstance(c, Categorical) and c.size <= MOST_CATEGORIES for c in split.schema.features]
    model = HistGradientBoostingClassifier(
        categorical_features=categorical,
        early_stopping=False,  # it would hold out rows of classes that may have only two
        l2_regularization=1.0,  # without it, a class of two rows makes boosting diverge
        learning_rate=0.05,
        max_iter=200,
        max_leaf_nodes=8,
        random_state=seed,
    )
    return on_codes(model, split)


def _exact(split: Split, epsilon: float, seed: int) -> Callable[[Any], Probabilities]:
    """Naive Bayes without noise on the schema's codes: what the algorithm loses, apart from the noise."""
    return on_codes(CategoricalNB(min_categories=[column.size for column in split.schema.features]), split)


def _majority(split: Split, epsilon: float, seed: int) -> Callable[[Any], Probabilities]:
    """The share of each class, for every row."""
    shares = np.array([(split.labels == name).mean() for name in split.schema.classes])
    return lambda rows: np.tile(shares, (len(rows), 1))


def on_codes(model: Any, split: Split) -> Callable[[Any], Probabilities]:
    def codes(rows: Any) -> npt.NDArray[Any]:
        columns: dict[str, Any] = split.schema.encode(rows, label=False)
        return np.column_stack(list(columns.values()))

    model.fit(codes(split.train), split.labels)
    return lambda rows: in_order(model.predict_proba(codes(rows)), model.classes_, split.schema.classes)


def in_order(probabilities: Probabilities, known: Any, classes: tuple[str, ...]) -> Probabilities:
    """A column for every class of the schema, in its order; zero for a class that the model does not know."""
    place = {name: column for column, name in enumerate(classes)}
    ordered = np.zeros((len(probabilities), len(classes)))
    ordered[:, [place[str(name)] for name in known]] = probabilities
    return ordered


NOT_PRIVATE: dict[str, Fit] = {"ceiling": _ceiling, "majority": _majority, "naive-bayes-exact": _exact}
