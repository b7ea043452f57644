"""Evaluation: what the results of all evaluations share: the question, its cost, and whether the promise holds."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, ClassVar, TypeVar

from ..display import amount, html_table, printable, readable
from ..errors import BadInput, SameRows, warn
from ..kernel import Budget, Ledger, Receipt, Source
from ..pages import Reported
from ..plans.outcome import Outcome, share_rows, total
from ..plans.run import opened, run
from ..schema import Schema
from ..schema.columns import text_of
from ..verdicts import Verdict, of_intervals
from ..verdicts.verdict import shown, warn_if_bad
from .intervals import Interval

LEVEL = 0.95
SAME_ROWS = (
    "by its receipts the model was trained on the rows of this ledger: if those that judge it were among them, the "
    "figures flatter it. Set rows apart first: `veil train --test-share`, or Source.split_at_random"
)


@dataclass(frozen=True)
class Judged:
    """Which model was evaluated: its class and, for a model of Veil, its method, data set, file and receipts."""

    kind: str
    method: str = ""
    data: str = ""
    file: str = ""
    receipts: tuple[Receipt, ...] = ()

    @classmethod
    def of(cls, model: Any) -> "Judged":
        """A description of a classifier, of a function, or of scores that were passed as values."""
        made = getattr(model, "outcome_", None)
        if isinstance(made, Outcome):
            return cls(type(model).__name__, made.method, made.schema.name, getattr(model, "file_", ""), made.receipts)
        if callable(model):
            return cls(f"the function {getattr(model, '__name__', type(model).__name__)}")
        return cls(type(model).__name__ if hasattr(model, "predict") else "values that were handed over")

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon that the model cost, None if it is not known."""
        return total(self.receipts) if self.receipts else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Evaluation(Reported):
    """How good a model is on private rows, computed from noisy answers alone; `outcome_` has these and their cost.

    `judged_` says which model it was.
    """

    outcome_: Outcome[Any]
    judged_: Judged | None = None

    chance: ClassVar[float | None] = None  # the value that guessing reaches, where it is known

    @property
    def method(self) -> str:
        """The kind of evaluation, such as "roc"."""
        return self.outcome_.method

    @property
    def epsilon(self) -> Fraction:
        """The epsilon that the evaluation cost."""
        return self.outcome_.epsilon

    @property
    @abstractmethod
    def intervals(self) -> dict[str, Interval]:
        """Confidence intervals of the results, by name."""

    @property
    def verdict_(self) -> Verdict:
        """Whether anything is known, by how narrow the intervals are, and whether the model beats guessing."""
        return of_intervals(self.intervals, self.releases_, self.schema_, self.chance)

    @property
    def same_rows_(self) -> bool:
        """Whether, by the receipts, the model may have been trained on these rows, which flatters it."""
        return self.judged_ is not None and share_rows(self.judged_.receipts, self.receipts_)

    def summary(self) -> str:
        """The result, in one line."""
        return ""

    def __repr__(self) -> str:
        found, mark = printable(self.summary()), self.outcome_.mark + shown(self.verdict_)
        return f"{found}, on '{readable(self.schema_.name)}' for epsilon {amount(self.epsilon)}{mark}"

    def table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The header and rows of the table in notebooks: questions and their cost, unless a result has its own."""
        return ["asked", "epsilon"], [(f"{r.verb} {r.question}", amount(r.epsilon)) for r in self.receipts_]

    def _repr_html_(self) -> str:
        return html_table(repr(self), *self.table(), all_in=".table()")


Result = TypeVar("Result", bound=Evaluation)
Kept = dict[str, Any]  # the outcome, and which model was judged


def told(found: Result) -> Result:
    """The result unchanged; warns if it is mostly noise."""
    warn_if_bad(found.verdict_)
    return found


def ask(
    plan: Callable[[Source, Budget], Any],
    method: str,
    model: Any,
    rows: Any,
    schema: Schema,
    epsilon: Any,
    ledger: Any,
    noise: Any,
) -> tuple[Any, Kept]:
    """Run a plan on scored rows. Returns what the plan made, and the fields that every Evaluation keeps.

    Plans ask first the question that a small epsilon is refused for first, so that a refusal comes before any charge.
    """
    charged = Ledger.open(ledger) if isinstance(ledger, (str, PathLike)) else ledger
    if charged is not None and schema.name == "evaluation" and schema.source is None:
        schema = schema.model_copy(update={"name": charged.name})  # scores without a schema: the ledger knows the name
    judged = Judged.of(model)
    if charged is not None and any(receipt.ledger == charged.id for receipt in judged.receipts):
        warn(SAME_ROWS, SameRows)  # before anything is charged
    asked = {"ledger": charged, "noise": noise, "purpose": "evaluate"}
    source = opened(rows, schema, budget := Budget(epsilon), **asked)
    outcome = run(source, plan, budget, method=method)
    return outcome.made, {"outcome_": outcome, "judged_": judged}


def spoken(value: float, interval: Interval) -> str:
    """A number and its confidence interval, as text."""
    said, low, high = interval.texts(value)
    return f"{said} (95 % from {low} to {high})"


def is_number(name: str) -> bool:
    """Whether the name of a class is a number, as predictions may be then."""
    with suppress(ValueError):
        return float(name) == float(name)
    return False


def class_place(positive: Any, classes: tuple[str, ...]) -> int:
    """The index of the positive class among the classes; without a name, that of the last."""
    name = classes[-1] if positive is None else text_of(positive)
    if name not in classes:
        raise BadInput(f"there is no class {readable(name)!r}: positive must be one of {', '.join(classes)}")
    return classes.index(name)
