"""Trace: how a choice came about, as data: facts and their price, predictions for every option, the choice."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ..display import amount, html_table, number, text_table
from ..errors import BadInput

VERSION = 1
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
    """How good an option is expected to be by one measure; 90 % of tables lie between `low` and `high`."""

    option: str
    measure: str
    value: float
    low: float
    high: float


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

    def to_dict(self) -> dict[str, Any]:
        """The trace as plain values for JSON."""
        facts = [{**asdict(fact), "price": str(fact.price)} for fact in self.facts]
        left_out = dict(self.left_out or {})
        return {**asdict(self), "facts": facts, "left_out": left_out, "nearest": list(self.nearest), "version": VERSION}

    @classmethod
    def from_dict(cls, given: Any) -> "Trace":
        """The trace that `to_dict` made into plain values. Raises BadInput for anything else."""
        try:
            if given["version"] > VERSION:
                raise BadInput("this trace was made by a newer version of Veil: upgrade with `pip install -U veil`")
            facts = tuple(Fact(**{**fact, "price": Fraction(fact["price"])}) for fact in given["facts"])
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
