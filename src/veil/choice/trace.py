"""Trace: how a choice came about, as data: facts and their price, predictions for every option, the choice."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ..display import amount, html_table, number, readable, text_table
from ..errors import BadInput
from ..kernel import exact

VERSION = 1
MOST = 1_000  # facts, predictions, options left out or databases of a trace that is read
NAMES = {"auc": "an AUC", "accuracy": "an accuracy"}
HEADER = ["option", "predicted", "from", "to", ""]


@dataclass(frozen=True)
class Fact:
    """A number that the choice depended on; `noise` is the standard deviation of its noise, `price` what it cost."""

    name: str
    value: float
    noise: float = 0.0
    price: Fraction = Fraction(0)


@dataclass(frozen=True)
class Prediction:
    """How good an option is expected to be by one measure; about 90 % of tables lie between `low` and `high`, of some
    kinds fewer."""

    option: str
    measure: str
    value: float
    low: float
    high: float


def in_words(predictions: Sequence[Prediction]) -> str:
    """What to expect of one option, as a sentence without its point; "" if nothing is predicted."""
    said = [one for one in predictions if one.measure in NAMES]
    tables = [" on 90 % of such tables", *[""] * len(said)]
    parts = [
        f"{NAMES[one.measure]} of {one.value:.2f} ({one.low:.2f} to {one.high:.2f}{where})"
        for one, where in zip(said, tables, strict=False)
    ]
    return f"Expect {' and '.join(parts)}" if parts else ""


@dataclass(frozen=True)
class Trace:
    """The facts, the predictions, the options left out with the reason, the chosen option, and why it was chosen.

    `nearest` are the public databases most like this one, and `far` says that none is really like it.
    """

    facts: tuple[Fact, ...]
    predictions: tuple[Prediction, ...]
    chosen: str
    why: str = ""
    left_out: Mapping[str, str] | None = None
    nearest: tuple[str, ...] = ()
    far: bool = False

    @property
    def price(self) -> Fraction:
        """The epsilon that the facts cost."""
        return sum((fact.price for fact in self.facts), Fraction(0))

    def expected(self, measure: str) -> Prediction | None:
        """What is predicted of the chosen option by this measure; None if nothing is."""
        return next((one for one in self.predictions if (one.option, one.measure) == (self.chosen, measure)), None)

    def in_short(self) -> str:
        """ "logistic was chosen, expected to be the best of 4", for titles."""
        return f"{readable(self.chosen)} was chosen, {readable(self.why, 300)}"

    def in_words(self) -> list[str]:
        """Two lines for people: what was chosen, why and for how much; and what to expect of it."""
        expected = in_words([one for measure in NAMES if (one := self.expected(measure)) is not None])
        near = f"; most like it: {', '.join(map(readable, self.nearest))}" if self.nearest else ""
        far = " No public table is much like this one: take that as a guess." if self.far else ""
        chosen = f"Chosen: {readable(self.chosen)}, {readable(self.why, 300)}."
        lines = [chosen, f"{expected}{near}.{far}" if expected else ""]
        return [line for line in lines if line]

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain values for JSON."""
        facts = [{**asdict(fact), "price": str(fact.price)} for fact in self.facts]
        left_out = dict(self.left_out or {})
        return {**asdict(self), "facts": facts, "left_out": left_out, "nearest": list(self.nearest), "version": VERSION}

    @classmethod
    def from_dict(cls, given: Any) -> "Trace":
        """The trace that `to_dict` made into plain values. Raises BadInput for anything else."""
        if isinstance(given, Mapping) and isinstance(given.get("version"), int) and given["version"] > VERSION:
            raise BadInput("this trace was made by a newer version of Veil: upgrade with `pip install -U veil`")
        try:
            if max(len(given[name] or ()) for name in ("facts", "predictions", "left_out", "nearest")) > MOST:
                raise ValueError
            facts = tuple(Fact(**{**fact, "price": _price(fact["price"])}) for fact in given["facts"])
            predictions = tuple(Prediction(**one) for one in given["predictions"])
            rest = {name: given[name] for name in ("chosen", "why", "left_out", "far")}
            return _checked(cls(facts, predictions, nearest=tuple(given["nearest"]), **rest))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            raise BadInput("this is not a trace of a choice, or it was damaged") from None

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [
            (
                f"{one.option}, {one.measure}",
                number(one.value),
                number(one.low),
                number(one.high),
                self._mark(one.option),
            )
            for one in sorted(self.predictions, key=lambda one: (one.measure, -one.value))
        ]
        return rows + [(name, "", "", "", f"left out: {reason}") for name, reason in (self.left_out or {}).items()]

    def _mark(self, option: str) -> str:
        return "chosen" if option == self.chosen else ""

    def _title(self) -> str:
        return (
            f"Chosen: {self.chosen}{f', {self.why}' if self.why else ''}; the choice cost epsilon {amount(self.price)}"
        )

    def __repr__(self) -> str:
        return text_table(self._title(), HEADER, self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._title(), HEADER, self._rows())


def _price(text: Any) -> Fraction:
    """The exact price that a text says: none below zero."""
    found = exact(text, "a price")
    if not isinstance(text, str) or found < 0:
        raise ValueError
    return found


def _checked(trace: Trace) -> Trace:
    """The trace, if its parts have the right types."""
    numbers = [n for fact in trace.facts for n in (fact.value, fact.noise)]
    numbers += [n for one in trace.predictions for n in (one.value, one.low, one.high)]
    texts = [trace.chosen, trace.why, *trace.nearest, *(fact.name for fact in trace.facts), *(trace.left_out or {})]
    texts += [*(trace.left_out or {}).values(), *(t for one in trace.predictions for t in (one.option, one.measure))]
    if not all(isinstance(n, (int, float)) and -1e300 < n < 1e300 for n in numbers):
        raise ValueError
    if not all(isinstance(text, str) for text in texts) or not isinstance(trace.far, bool):
        raise ValueError
    return trace
