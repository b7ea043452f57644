"""Test rows as a table of scores and labels with a public schema, which the kernel counts like any other table.

A score becomes the index of a cell of a public grid, by a rule that depends on its row alone; no value can raise.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.validation import check_is_fitted

from ..errors import BadInput
from ..models import PrivateClassifier
from ..models.base import PrivateEstimator, declared, is_public
from ..models.rows import as_table, inputs, label_column
from ..progress import advance, progress
from ..questions.odds import odds_of
from ..questions.scorers import UNIT
from ..schema import Categorical, Numeric, Schema
from ..schema.columns import text_of
from ..schema.encoding import as_column, columns_of, in_blocks, numbers, picked, quiet
from ..schema.streams import Stream, stream_of
from .handing import Handed, handed
from .result import class_place, is_number

CELLS = 1 << 14
STEEPEST = 30  # the grid of log-odds goes from -30 to 30
STEPS = 100  # of a progress bar
TREES = (DecisionTreeClassifier, ExtraTreeClassifier, ExtraTreesClassifier, RandomForestClassifier)
LABEL, PREDICTION, RIGHT = "label", "prediction", "right"
BOTH = ("no", "yes")
ORDER = "the rows come second, and labels by name: scores first, as in private_roc_curve(scores, y=labels, epsilon=...)"
SCORES_EACH = "give a score of each class for every row; of two classes, that of the positive one is enough"
CellCodes = npt.NDArray[Any]
Cuts = npt.NDArray[np.float64]


class Scored(NamedTuple):
    """Test rows ready for the kernel: {column: values}, or a stream of them, their public schema, and the scores at the
    grid's cuts."""

    rows: Any
    schema: Schema
    cuts: Cuts


def score_cuts(bounds: tuple[float, float]) -> Cuts:
    """The cuts between the cells of the public grid for scores within these bounds.

    They are evenly spaced. For probabilities half are evenly spaced in the probability and half in its log-odds, so
    that 0.999 and 0.99999 differ too.
    """
    low, high = _checked(bounds)
    return _probability_cuts() if (low, high) == (0, 1) else np.linspace(low, high, CELLS + 1)[1:-1]


@cache
def _probability_cuts() -> Cuts:
    odds = np.linspace(-STEEPEST, STEEPEST, CELLS // 2 + 1)[1:-1]
    even = np.linspace(0, 1, CELLS // 2 + 2)[1:-1]
    cuts = np.unique(np.concatenate([even, 1 / (1 + np.exp(-odds))]))
    cuts.flags.writeable = False  # shared by all curves
    return cuts


def _checked(bounds: Any) -> tuple[float, float]:
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        raise BadInput("bounds must be two numbers, such as (0, 1)") from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise BadInput("bounds must be two finite numbers, the lower one first")
    return low, high


def score_table(
    model: Any,
    X: Any,
    y: Any,
    schema: Schema | None,
    classes: Sequence[Any] | None,
    bounds: tuple[float, float] = (0, 1),
    default: float | None = None,
    positive: Any = None,
) -> Scored:
    """The scores (of a model, or given as values) with the labels; a score for each class if there are more than two.

    With two classes a model's score is the probability of the positive one, the last if it is not named.

    A score beyond the bounds is clipped, and NaN counts as `default` (the lower bound if it is not given).
    """
    model, given, cuts = without_ledger(model), rows_schema(model, schema), score_cuts(bounds)
    public = evaluation_schema(model, given, classes)
    place, scored = class_place(positive, public.classes), score_schema(public, cuts)
    names, least = [column.name for column in scored.features], bounds[0] if default is None else default

    def scores(rows: Any) -> dict[str, Any]:
        codes = _codes(model, rows, given, public, cuts, least, place)
        if codes.shape[1] != len(names):
            raise BadInput(SCORES_EACH)
        return {**dict(zip(names, codes.T, strict=True)), **_labels(rows, y, public)}

    return Scored(_judging(scores, model, X, y, public, scored), scored, cuts)


def _judging(judged: Callable[[Any], dict[str, Any]], model: Any, X: Any, y: Any, public: Schema, made: Schema) -> Any:
    """What a model makes of the rows, with their labels, as columns of the schema `made`.

    Of rows that come in batches, a stream: each batch is judged when it is read, and forgotten. Only a model of Veil
    can do that: its schema says which columns it needs.
    """
    if (stream := stream_of(X)) is None:
        return judged(X)
    if not isinstance(model, PrivateClassifier):
        raise BadInput("rows that come in batches can be judged by models of Veil alone: collect them first")
    if y is not None:
        raise BadInput("rows that come in batches must hold the label among their columns: leave y out")
    check_is_fitted(model)
    kept = [public.person] if public.person else []
    needed = [*dict.fromkeys([*inputs(model.schema_, {}, person=False), public.source or LABEL, *kept])]
    columns = dict.fromkeys([*(column.name for column in made.column), *kept], "")
    return JudgedStream(
        columns, lambda names: map(partial(_picked, judged, names), stream.frames(needed)), stream, judged, needed
    )


@dataclass(frozen=True)
class JudgedStream(Stream):
    """What is made of the rows of another stream. Whatever encodes those makes it and encodes it: workers of Spark."""

    source: Stream
    judged: Callable[[Any], dict[str, Any]]
    needed: Sequence[str]

    @property
    def engine(self) -> str:  # type: ignore[override]
        return self.source.engine

    def coded(self, make: Callable[[], Callable[[Any], Any]], names: Sequence[str]) -> Iterator[Any]:
        self.check(names)
        return self.source.coded(partial(_then_coded, self.judged, names, make), self.needed)


def _then_coded(judged: Any, names: Sequence[str], make: Callable[[], Callable[[Any], Any]]) -> Callable[[Any], Any]:
    code = make()
    return lambda frame: code(_picked(judged, names, frame))


def _picked(judged: Callable[[Any], dict[str, Any]], names: Sequence[str], frame: Any) -> dict[str, Any]:
    return picked(judged(frame), [*names])


def score_schema(public: Schema, cuts: Cuts) -> Schema:
    """The public schema of scored rows: the label and a score, or one for each class if there are more than two."""
    names = [f"score of {name}" for name in public.classes] if len(public.classes) > 2 else ["score"]
    return _with(public, [_score_column(name, len(cuts)) for name in names])


@lru_cache(maxsize=64)  # naming this many codes takes longer than all else
def _score_column(name: str, cuts: int) -> Numeric:
    return Numeric(name=name, bounds=(0, cuts), integer=True, bins=cuts + 1, missing=0)


def prediction_table(
    model: Any, X: Any, y: Any, schema: Schema | None, classes: Sequence[Any] | None, right: bool = False
) -> Scored:
    """The predictions (of a model, or given as values) with the labels; with `right`, only whether the two agree."""
    model, given = without_ledger(model), rows_schema(model, schema)
    public = evaluation_schema(model, given, classes)
    column = Categorical(name=PREDICTION, values=public.classes)
    made = _with(public, [Categorical(name=RIGHT, values=BOTH, missing="no") if right else column])

    def predictions(rows: Any) -> dict[str, Any]:
        predicted, labels = _predictions(model, rows, given, public), _labels(rows, y, public)
        if not right:
            return {PREDICTION: predicted, **labels}
        if len(predicted) != len(labels[LABEL]):  # NumPy would name both lengths, or broadcast
            raise BadInput("the predictions and the labels have different lengths")
        same = column.encode(predicted) == public.get(LABEL).encode(labels[LABEL])
        return {RIGHT: np.where(same, "yes", "no"), **labels}

    return Scored(_judging(predictions, model, X, y, public, made), made, np.zeros(0))


def without_ledger(model: Any) -> Any:
    """A model of Veil without its ledger, so that it can be sent to other processes; any other model unchanged."""
    if isinstance(model, PrivateClassifier):
        model = copy(model)
        model.ledger = None
    return model


def rows_schema(model: Any, schema: Any) -> Schema | None:
    """The schema of the rows: the given one, else that of a Veil model, or of one inside another estimator.

    If both describe the same data set, they must protect the same unit (rows or people).
    """
    own = _own_schema(model)
    if isinstance(schema, (str, bytes)) or hasattr(schema, "__fspath__"):
        schema = Schema.read(schema)
    given: Schema | None = schema
    if given is None or own is None or own.public or given.name != own.name:
        return own if given is None else given
    if (given.person, given.rows_per_person) != (own.person, own.rows_per_person):
        raise BadInput("the schema and the model's own protect different units: person and rows_per_person must agree")
    return given


def _own_schema(model: Any) -> Schema | None:
    if isinstance(model, PrivateClassifier):
        return getattr(model, "schema_", None)  # a model that is not fitted raises later, when it predicts
    inside = [model, *model.get_params().values(), *vars(model).values()] if isinstance(model, BaseEstimator) else []
    for part in (one for one in inside if isinstance(one, PrivateEstimator)):
        if part.schema is not None and not is_public(part.schema):
            return declared(part.schema)
        if hasattr(part, "schema_"):
            return part.schema_
    return None


def evaluation_schema(model: Any, schema: Any, classes: Sequence[Any] | None) -> Schema:
    """The public schema of an evaluation: name of the data set, classes, and who is protected.

    `classes` can be given instead of a schema; beside one they only say the order of its classes.
    """
    schema = rows_schema(model, schema)
    if schema is None:
        if classes is None:
            raise BadInput("say which classes there may be, as classes=(0, 1), or give the schema of the rows")
        values = tuple(text_of(name) for name in classes)
        return Schema(name="evaluation", label=LABEL, column=[Categorical(name=LABEL, values=values)])
    if schema.label is None or len(schema.classes) < 2:
        raise BadInput("an evaluation needs a label of two classes or more: name it in the schema")
    keys = ("name", "person", "rows_per_person", "rows", "public")
    label = Categorical(name=LABEL, values=schema.classes if classes is None else _in_this_order(classes, schema))
    return Schema(label=LABEL, source=schema.label, column=[label], **{key: getattr(schema, key) for key in keys})


def _in_this_order(classes: Sequence[Any], schema: Schema) -> tuple[str, ...]:
    codes = schema.get(str(schema.label)).encode(list(classes)).tolist()
    if sorted(codes) != [*range(len(schema.classes))]:
        raise BadInput("classes must be those of the schema, each once: leave them out to have them as declared")
    return tuple(schema.classes[code] for code in codes)


def _with(public: Schema, columns: Sequence[Any]) -> Schema:
    return public.model_copy(update={"column": (*columns, *public.column)})


def _labels(X: Any, y: Any, public: Schema) -> dict[str, Any]:
    """The label column, from y or from X, and the person column if people are protected."""
    if getattr(X, "ndim", 2) == 1 and getattr(getattr(X, "dtype", None), "names", None) is None:
        raise BadInput(ORDER)
    table = None if X is None else as_table(X, public.public, 0)
    wanted = [public.person] if public.person else []
    if y is None:
        wanted.append(public.source or LABEL)
    if wanted and (table is None or isinstance(table, np.ndarray) and not table.dtype.names):
        raise BadInput(f"the rows must be a table with a column {wanted[0]!r}")
    found = columns_of(table, wanted) if wanted else {}
    labels = label_column(y, public.public) if y is not None else found.pop(public.source or LABEL)
    return {LABEL: as_column(labels, "y"), **found}


def _codes(
    model: Any, X: Any, given: Schema | None, public: Schema, cuts: Cuts, default: float, positive: int
) -> CellCodes:
    """The index of the grid cell of every score, rows x scores."""
    if isinstance(model, PrivateClassifier):
        return _model_codes(model, X, public, cuts, positive)
    if hasattr(model, "predict") or callable(model):
        call, rows = _scorer(model, public, positive), handed(X, model, given)
        return _cells(_judged(model, call, rows, _width(public), np.nan), cuts, default)
    parts = _score_columns(model, _width(public), positive)
    columns = [in_blocks(as_column(part, "scores"), numbers, np.float64) for part in parts]
    return _cells(np.stack(columns, axis=1), cuts, default)


def _score_columns(scores: Any, width: int, positive: int) -> Sequence[Any]:
    """The columns of given scores. How many there are depends on the number of classes, never on the values.

    For two classes with a column each, as `predict_proba` returns, only that of the positive class.
    """
    if width > 1 and getattr(scores, "ndim", 2) == 1:
        raise BadInput(f"there are {width} classes: {SCORES_EACH}")
    table = as_table(scores, False, width) if width > 1 else scores
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return [table[:, positive]] if width == 1 and table.shape[1] == 2 else list(table.T)
    if width > 1:
        raise BadInput("give the scores as an array of rows by classes")
    return [table]


def _width(public: Schema) -> int:
    return 1 if len(public.classes) == 2 else len(public.classes)


def _cells(scores: npt.NDArray[np.float64], cuts: Cuts, default: float) -> CellCodes:
    with quiet():
        known = np.where(np.isnan(scores), default, scores)
        return np.searchsorted(cuts, known, side="right").astype(np.uint16)


def in_order(model: Any, public: Schema) -> list[int]:
    """For each class of the schema, its index in the model's `classes_`."""
    known = [text_of(value) for value in model.classes_]
    if {*known} != {*public.classes}:
        raise BadInput("the model has other classes than the schema: evaluate it on rows with the same label")
    return [known.index(name) for name in public.classes]


def _model_codes(model: PrivateClassifier, X: Any, public: Schema, cuts: Cuts, positive: int) -> CellCodes:
    """The grid cells of the probabilities of a Veil model, computed from its integer log-odds.

    Not from floats: the last bit of a float can depend on the other rows it is computed with.
    """
    if not (0 < cuts[0] and cuts[-1] < 1):
        raise BadInput("the scores of this model are probabilities: leave out bounds")
    scores = model.class_scores(X)[:, in_order(model, public)]
    labels = [positive] if scores.shape[1] == 2 else range(scores.shape[1])
    edges = np.floor(np.log(cuts / (1 - cuts)) * UNIT).astype(np.int64)
    odds = np.hstack([odds_of(scores, label) for label in labels])
    return np.searchsorted(edges, odds, side="right").astype(np.uint16)


def _scorer(model: Any, public: Schema, positive: int) -> Callable[[Any], Any]:
    """A function from rows to their scores: with two classes that of the positive one, else one for each class."""
    if not hasattr(model, "predict"):
        scores: Callable[[Any], Any] = model
        return scores
    order = in_order(model, public)
    taken = [order[positive]] if len(order) == 2 else order
    if hasattr(model, "predict_proba"):
        return lambda row: np.asarray(model.predict_proba(row))[:, taken]
    if not hasattr(model, "decision_function") or len(order) > 2:
        raise BadInput("the model must have predict_proba or, with two classes, decision_function")
    sign = 1 if order[positive] else -1
    return lambda row: 1 / (1 + np.exp(-sign * np.asarray(model.decision_function(row), np.float64)))


def _judged(model: Any, call: Callable[[Any], Any], rows: Handed, width: int, missing: Any) -> npt.NDArray[Any]:
    """The output of a model that is not Veil's for each row, rows x `width`; `missing` where it fails.

    The output for a row must depend on that row alone, and in general nothing guarantees that: given many rows, a model
    may refuse all because of one, convert all values to one type, normalise by what it finds among them, or add up
    floats in an order that depends on their number (a product of matrices does). So it is given one row at a time,
    except for trees of finite numbers: they look up a table for each row and add entries in the order of the trees, and
    a sum or a quotient of two doubles is rounded the same way for any number of rows.
    """
    if type(model) not in TREES or _in_threads(model) or rows.matrix is None:
        return _one_by_one(call, rows, range(rows.length), width, missing)
    found = np.full((rows.length, width), missing)
    with quiet(), suppress(Exception):  # an error about names or numbers of columns: values are finite
        finite = np.asarray(np.isfinite(rows.matrix.astype(np.float32)).all(axis=1))
        found[~finite] = _one_by_one(call, rows, np.flatnonzero(~finite), width, missing)
        found[finite] = np.asarray(call(rows.some(finite)), found.dtype).reshape(-1, width)
    return found


def _in_threads(model: Any) -> bool:
    """Whether trees may be added up in the order in which threads finish, by `n_jobs` or joblib's default."""
    return model.get_params().get("n_jobs") not in (None, 1) or effective_n_jobs(None) > 1


def _one_by_one(
    call: Callable[[Any], Any], rows: Handed, places: Sequence[int] | npt.NDArray[Any], width: int, missing: Any
) -> npt.NDArray[Any]:
    """As `_judged`, one row at a time, for the rows at these places."""
    length = len(places)
    found = np.full((length, width), missing)
    with quiet(), progress():
        for step in range(STEPS):  # the same number of steps for any number of rows
            for place in range(length * step // STEPS, length * (step + 1) // STEPS):
                with suppress(Exception):  # an error would tell about the row
                    made = np.asarray(call(rows.one(places[place])), found.dtype).reshape(-1)
                    found[place] = made if made.size == width else missing
            advance("judging rows one by one", step + 1, STEPS)  # a share: neither how many rows there are, nor a rate
    return found


def _predictions(model: Any, X: Any, given: Schema | None, public: Schema) -> Any:
    """The predicted classes: a Veil model predicts all rows at once, another model one by one."""
    if isinstance(model, PrivateClassifier):
        in_order(model, public)
        return model.predict(X)
    if not hasattr(model, "predict") and not callable(model):
        if getattr(getattr(model, "dtype", None), "kind", "") == "f" and not any(map(is_number, public.classes)):
            raise BadInput("predictions must be classes: compare scores with a threshold, such as scores > 0.5")
        return as_column(model, "predictions")
    return _judged(model, getattr(model, "predict", model), handed(X, model, given), 1, None)[:, 0]
