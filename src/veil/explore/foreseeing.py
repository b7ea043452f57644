"""What the views on a schema share: which schema, how many rows, which epsilon, and the forecasts, kept for a while."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..choice.classifiers import Expected, expect
from ..errors import BadInput, VeilError
from ..forecast import MOST_ROWS, Forecast, check_learnable, declared_rows, forecast, predictable
from ..kernel import Budget
from ..plans.catalogue import NAMES
from ..schema import Schema
from .asking import STOPS, Asking
from .given import Given
from .page import Site, entry, select

MOST_TEXT = 1 << 16  # letters of a schema that is pasted
PASTED = "schema.toml"
EXAMPLE = """name = "clinic"
label = "returned"
rows = 20000

[[column]]
name = "age"
kind = "numeric"
bounds = [0, 120]

[[column]]
name = "ward"
kind = "categorical"
values = ["surgery", "medicine", "children"]

[[column]]
name = "returned"
kind = "categorical"
values = ["no", "yes"]
"""


@dataclass(frozen=True)
class Asked:
    """The schema that a request is about, where it lies, the rows that are declared, and the epsilon."""

    schema: Schema
    path: Path
    number: int
    rows: int
    budget: Budget
    pasted: str = ""

    @property
    def epsilon(self) -> float:
        """The epsilon as a number to predict with."""
        return predictable(self.budget)

    @property
    def sized(self) -> Schema:
        """The schema with the number of rows that the request declares."""
        return self.schema if self.schema.rows == self.rows else self.schema.model_copy(update={"rows": self.rows})

    def expected(self) -> Expected:
        """What to expect of every method."""
        return expect(self.schema, self.rows, self.epsilon)


def asked(given: Given, asking: Asking, pasted: str = "") -> Asked | str:
    """What a request is about; or, as a sentence, why there is no schema to speak of."""
    if pasted:
        try:
            schema, path, number = Schema.loads(pasted), Path(PASTED), -1
        except VeilError as error:
            return f"The text is no schema: {error}"
    else:
        if not given.schemas:
            return "No schema is open."
        places = [str(place) for place in range(len(given.schemas))]
        first = next((place for place in places if isinstance(given.schema(int(place)), Schema)), None)
        number = int(asking.choice("schema", places, first))
        found = given.schema(number)
        if isinstance(found, str):
            check = f"veil schema check {given.schemas[number].name}"
            return f"The schema cannot be read; {check} lists what to mend: {found}"
        schema, path = found, given.schemas[number]
    try:
        check_learnable(schema)
    except BadInput as error:
        return f"Nothing can be foreseen for this schema: {error}"
    rows = asking.whole("rows", 1, MOST_ROWS, declared_rows(schema))
    return Asked(schema, path, number, rows, asking.epsilon(), pasted)


def fields(given: Given, now: Asked) -> list[str]:
    """The controls that all views on a schema have."""
    names = {str(place): path.name for place, path in enumerate(given.schemas)}
    chosen = [select("schema", "Schema", names, str(now.number))] if now.number >= 0 else []
    rows = entry("rows", "Rows, about", now.rows, more=' inputmode="numeric" size="9"')
    price = entry("epsilon", "Epsilon", price_text(now.budget), stops=STOPS, more=' inputmode="decimal" size="6"')
    return [*chosen, rows, price]


def price_text(budget: Budget) -> str:
    """An epsilon as it was typed, or nearly."""
    value = float(budget.epsilon)
    return f"{value:g}" if Budget(f"{value:g}").epsilon == budget.epsilon else str(budget.epsilon)


def state(now: Asked) -> dict[str, str]:
    """The parameters that lead back to this request."""
    return {"schema": str(now.number), "rows": str(now.rows), "epsilon": price_text(now.budget)}


def methods(schema: Schema) -> list[str]:
    """The methods that take such a table; those of words are for texts alone."""
    return ["auto", *(name for name in NAMES if name != "auto" and not name.startswith("sparse"))]


@lru_cache(maxsize=256)
def _rehearsed(text: str, method: str, price: str) -> Forecast | str:
    """A forecast, or why the method refuses. Everything follows from the text of a schema."""
    from ..models import METHODS  # scikit-learn takes a second to load

    schema = Schema.loads(text)
    try:
        return forecast(METHODS[method](epsilon=price, schema=schema).rehearse(), schema)
    except VeilError as error:
        return str(error)


def foreseen(now: Asked, method: str) -> Forecast | str:
    """What a fit by this method would ask and cost, from made-up rows; or why the method refuses."""
    return _rehearsed(now.sized.to_toml(), method, str(now.budget.epsilon))


def nothing_open(site: Site, told: str) -> Mapping[str, str]:
    """What a view without a schema says: a title, a sentence, and a form to paste one."""
    area = f'<textarea name="text" rows="14" cols="60" spellcheck="false">{EXAMPLE}</textarea>'
    field = f'<label class="wide">A schema{area}</label><button type="submit">Show</button>'
    paste = f'<form class="controls" method="post" action="{site.path("plan")}">{field}</form>'
    return {"told": told, "paste": paste if site.served else ""}
