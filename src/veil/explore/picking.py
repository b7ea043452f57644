"""What a request picks of results: a measure, an epsilon, a table, methods; each from its list."""

from dataclasses import dataclass
from functools import cached_property
from math import isnan

from ..plans.catalogue import NAMES
from ..results import Group, Results
from .asking import Asking
from .words import MEASURES

PARAMETERS = ("measure", "epsilon", "table", "method", "show", "who", "rows", "tables")
WHO = {"all": "all", "pure": "private without delta", "veil": "Veil's"}
TABLES = {"firm": "3 seeds or more", "all": "all"}
SHOW = {"gap": "gap to the best", "value": "value"}


@dataclass(frozen=True)
class Picked:
    """What a request picked."""

    results: Results
    measure: str
    epsilon: float
    table: str
    method: str
    show: str
    who: str
    rows: int | None
    scope: str = "all"

    @cached_property
    def tables(self) -> list[str]:
        """The tables to show: those that were measured on so many rows."""
        listed = self.results.firm if self.scope == "firm" else self.results.tables
        there = {table for table, _, _, rows in self.results.groups if rows == self.rows}
        return [table for table in listed if table in there]

    @cached_property
    def measured(self) -> list[str]:
        """The methods of which there are runs on any of these tables."""
        return [name for name in self.methods if any(self.group(table, name) for table in self.tables)]

    @cached_property
    def methods(self) -> list[str]:
        """The methods to show, private ones first."""
        found, pure = self.results.methods, [name for name in self.results.methods if self._is_pure(name)]
        return {"all": [*found], "pure": pure, "veil": [name for name in found if name in NAMES]}[self.who]

    def _is_pure(self, method: str) -> bool:
        return self.results.private(method) and not self.results.delta(method)

    def group(self, table_: str, method: str) -> Group | None:
        return self.results.group(table_, method, self.epsilon, self.rows)

    def best(self, table_: str) -> str:
        return self.results.best(table_, self.methods, self.epsilon, self.measure, self.rows)

    def asked(self, **changes: object) -> dict[str, object]:
        """The parameters of this view, with some of them changed."""
        now = {"measure": self.measure, "epsilon": f"{self.epsilon:g}", "show": self.show, "who": self.who}
        sized = {} if self.rows is None else {"rows": self.rows}
        scope = {"tables": self.scope} if has_scope(self.results) else {}
        return {**now, "table": self.table, "method": self.method, **sized, **scope, **changes}


def picked(results: Results, asking: Asking) -> Picked:
    """The choices of a request; each must be on its list."""
    stops = {f"{epsilon:g}": epsilon for epsilon in results.epsilons}
    usual = next((stop for stop in ("0.1", "0.2", "1") if stop in stops), next(iter(stops), ""))
    sizes = ["all" if size is None else str(size) for size in results.sizes]
    measures = [name for name in MEASURES if any(is_known(group, name) for group in results.groups.values())]
    epsilon = stops[asking.choice("epsilon", [*stops], usual)] if stops else 0.0
    size = asking.choice("rows", sizes, sizes[-1])
    return Picked(
        results,
        asking.choice("measure", measures or list(MEASURES)),
        epsilon,
        asking.choice("table", results.tables),
        asking.choice("method", ["", *results.methods], ""),
        asking.choice("show", [*SHOW]),
        asking.choice("who", [*WHO]),
        None if size == "all" else int(size),
        asking.choice("tables", [*TABLES]) if has_scope(results) else "all",
    )


def has_scope(results: Results) -> bool:
    """Whether some tables were measured with few seeds and some with more."""
    return 0 < len(results.firm) < len(results.tables)


def is_known(group: Group, measure: str) -> bool:
    return any(not isnan(value) for value in group.values[measure])
