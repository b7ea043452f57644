"""Recoding: codes of columns whose bins or pools are decided on later, each from the finest code of its row alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from .. import wording
from ..schema import Categorical, Date, Numeric, Schema, Text
from ..schema.codes import Coder, coder
from ..schema.fine import cells_of
from ..schema.refusing import refuse
from .shelf import taken

FIXED, DECLARED = {str, int, float, bool, type(None)}, {Schema, Categorical, Numeric, Date, Text}  # FIXED: unchanging


class Recoded(dict[str, Any]):
    """Codes by column. A column with a coder has the code that this gives to a value of the cell of its finest code."""

    def __init__(self, finest: Mapping[str, Any], columns: Mapping[str, Any], coders: Mapping[str, Coder]) -> None:
        super().__init__({name: codes for name, codes in finest.items() if name not in coders})
        self.finest, self.columns, self.coders = finest, columns, coders

    def __missing__(self, name: str) -> Any:
        codes: Any = self.coders[name](cells_of(self.columns[name]))
        return self.setdefault(name, taken(codes, self.finest[name]))

    def again(self, columns: Sequence[Any]) -> "Recoded":
        """Codes from the same finest ones, in the bins or pools of the given columns; others keep theirs."""
        return Recoded(self.finest, self.columns, {**self.coders, **{column.name: coder(column) for column in columns}})


def replaced(schema: Schema, columns: Sequence[Any]) -> Schema:
    """A copy of the schema in which each given column replaces the one of the same name."""
    by_name = {column.name: column for column in columns}
    return schema.model_copy(update={"column": tuple(by_name.get(one.name, one) for one in schema.column)})


def owned(part: Any) -> Any:
    """A copy of what is declared that nobody else can change; what follows from it, such as sizes, is computed anew."""
    if type(part) is tuple:
        return part if {*map(type, part)} <= FIXED else tuple([*map(owned, part)])
    if type(part) is dict:
        return {owned(name): owned(inside) for name, inside in [*part.items()]}
    refuse(type(part) not in FIXED | DECLARED, wording.SCHEMA_PARTS)
    fields = type(part).model_fields if type(part) in DECLARED else ()
    return type(part).model_construct(**{name: owned(vars(part)[name]) for name in fields}) if fields else part
