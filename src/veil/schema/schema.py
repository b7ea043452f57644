"""Schema: what is public about a table, in TOML; its columns are in `columns`."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from ..display import TOLD, column_rows, html_table, readable, schema_toml
from ..errors import BadInput
from .bags import Bags
from .codes import encode_rows
from .columns import Categorical, Declared, Numeric, Text
from .dates import Date
from .encoding import Codes
from .mistakes import OPEN, BadSchema, Mistake, lines_of, name_and_kind

AnyColumn = Annotated[Categorical | Numeric | Date | Text, Field(discriminator="kind")]
LONGEST = 1 << 24  # bytes of a schema
MOST_COLUMNS = 1 << 16
MOST_BINS = 1 << 20  # of all columns together
MOST_ROWS = 1 << 100  # doubles can hold it, and what is computed from it
OF_ROWS = (".csv", ".csv.gz", ".tsv", ".parquet", ".pq")  # how names of files of rows end
NESTED = re.compile(r"(?:\.[^.=,{}\n]*+){100}")  # names within names: what they take grows with their square


class Schema(Declared):
    """The public description of a table.

    `label` names the categorical column to be predicted; its values are the classes. With `person`, the name of an
    identifier column, epsilon protects all rows of a person: at most `rows_per_person` of them are kept. `rows` is a
    public guess, for sizing only. `public` says that the rows are no secret and the domain may come from them; all
    answers are then marked as not private.
    """

    name: str = Field(min_length=1)
    label: str | None = None
    person: str | None = Field(None, min_length=1)
    rows_per_person: int = Field(1, ge=1, le=MOST_ROWS)
    rows: int | None = Field(None, ge=0, le=MOST_ROWS)
    source: str | None = None
    public: bool = False
    column: tuple[AnyColumn, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _fits(cls, fields: Any) -> Any:
        """The fields; raises if their columns would take much more memory than the text that declares them."""
        columns = fields.get("column") if isinstance(fields, dict) else None
        if isinstance(columns, (list, tuple)):
            bins = [column.get("bins") for column in columns if isinstance(column, Mapping)]
            if len(columns) > MOST_COLUMNS or sum(one for one in bins if type(one) is int and one > 0) > MOST_BINS:
                raise ValueError(f"a schema has at most {MOST_COLUMNS:,} columns, and {MOST_BINS:,} bins in all")
        return fields

    @model_validator(mode="after")
    def _check(self) -> "Schema":
        for conflict in _conflicts(dict(self), [(column.name, column.kind) for column in self.column]):
            raise ValueError(conflict.said)
        if self.label and getattr(self.get(self.label), "pools", None):
            raise ValueError("label must name a column without pools: its values are the classes")
        return self

    @classmethod
    def _mistakes(cls, error: ValidationError, fields: Mapping[str, Any]) -> list[Mistake]:
        """The mistakes in keys and columns, and conflicts between them."""
        columns = fields["column"] if isinstance(fields.get("column"), (list, tuple)) else ()
        conflicts = [*_conflicts(fields, [name_and_kind(column) for column in columns])]
        known = {conflict.said for conflict in conflicts}
        return [*(m for m in super()._mistakes(error, fields) if m.said not in known), *conflicts]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Schema":
        """The schema in a TOML file."""
        if str(path).lower().endswith(OF_ROWS):  # before it is read: a complaint about TOML may quote it
            raise BadInput(f"{path} looks like rows, not like a schema: draft one with `veil schema new {path}`")
        try:
            with open(path, "rb") as stream:  # no more of it than is needed to see that it is too long
                text = stream.read(LONGEST + 1).decode("utf-8-sig")
        except FileNotFoundError:
            raise BadInput(f"{path} cannot be read: there is no such file, check the path") from None
        except (OSError, ValueError, TypeError):
            raise BadInput(f"{path} cannot be read: check the path, and that it is a UTF-8 text file") from None
        try:
            return cls.loads(text)
        except BadInput as problem:
            raise BadInput(f"{path}: {problem}") from None

    @classmethod
    def loads(cls, text: str) -> "Schema":
        """The schema in TOML text."""
        fields: dict[str, Any] = {}
        if len(text) > LONGEST or NESTED.search(text):
            raise BadInput("not a schema: it is too long, or names are nested too deep")
        try:
            fields = tomllib.loads(text)
            return cls(**fields)
        except BadSchema as problem:
            columns = fields.get("column")
            lines = lines_of(text, len(columns) if isinstance(columns, list) else 0)
            raise BadSchema(problem.mistakes, lines) from None
        except tomllib.TOMLDecodeError as error:
            raise BadInput(f"not valid TOML, which a schema is written in: {error}") from None
        except (RecursionError, TypeError, ValueError):  # nested too deep, a key `self`, a number of 5,000 digits
            raise BadInput("not a schema: see `veil schema new --help` for what one looks like") from None

    def to_toml(self) -> str:
        """TOML text that `loads` turns back into this schema."""
        return schema_toml(self)

    def get(self, name: str) -> AnyColumn:
        """The column of this name."""
        for column in self.column:
            if column.name == name:
                return column
        raise BadInput(_unknown(name, [column.name for column in self.column]))

    @property
    def classes(self) -> tuple[str, ...]:
        """The values of the label; one nameless class if there is no label."""
        label = self.get(self.label) if self.label else None
        return label.values if isinstance(label, Categorical) else ("",)

    @property
    def features(self) -> tuple[Categorical | Numeric, ...]:
        """All columns with one code per row (categorical, numeric, date), other than the label."""
        return tuple(c for c in self.column if not isinstance(c, Text) and c.name != self.label)

    @property
    def texts(self) -> tuple[Text, ...]:
        """The text columns whose words are declared."""
        return tuple(c for c in self.column if isinstance(c, Text) and c.size)

    def encode(self, rows: Any, *, label: bool = True) -> dict[str, Codes | Bags]:
        """The codes of every column as {name: codes}, each row's by itself; without the label if not wanted."""
        return encode_rows(rows, self, label=label)

    def __repr__(self) -> str:
        rows = column_rows(self)
        lines = [f"  {name:20} {kind:18} {size:>6} codes  {shown}" for name, kind, size, shown in rows]
        return "\n".join([f"Schema '{readable(self.name)}'", *lines])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html_table(f"Schema '{self.name}'", ["column", "kind", "codes", "of"], column_rows(self), None)


def _unknown(name: object, known: Sequence[str]) -> str:
    """A sentence about a name that no column has, and the one that may be meant or all that there are."""
    near = get_close_matches(str(name), known, 1, 0.7)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(readable, known[:TOLD]))}"
    return f"the schema has no column {name!r}: {hint}{', ...' * (not near and len(known) > TOLD)}"


def _conflicts(fields: Mapping[str, Any], columns: Sequence[tuple[Any, Any]]) -> Iterator[Mistake]:
    """Mistakes between the parts of a schema, given the names and kinds of its columns."""
    names, (label, person) = [name for name, _ in columns], (fields.get("label"), fields.get("person"))
    for place, name in enumerate(names):
        if name is not None and name in names[:place]:
            yield Mistake(place, "name", f"two columns have the name {name!r}: rename one, or leave it out")
    if label == OPEN and OPEN not in names:
        yield Mistake(None, "label", "fill in `label`: the categorical column to predict; or delete the line")
    elif isinstance(label, str) and label not in names:
        near = get_close_matches(label, [name for name in names if name is not None], 1, 0.7)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        yield Mistake(None, "label", f"the schema has no column {label!r}: label must name one of its columns{hint}")
    elif isinstance(label, str) and dict(columns)[label] in ("numeric", "date", "text"):
        yield Mistake(None, "label", f"label must name a categorical column, and {label!r} is not one")
    if person is None and isinstance(fields.get("rows_per_person"), int) and fields["rows_per_person"] > 1:
        yield Mistake(None, "rows_per_person", "rows_per_person needs person, the name of the identifier column")
    if person is not None and person in names:
        said = f"the person column {person!r} is an identifier: leave it out of the columns"
        yield Mistake(names.index(person), "name", said)
