"""Traces of public databases: how good every option was on each of them, with the facts that a choice would have had.

A table with a line for each database at one epsilon: its name and family, a column for every fact, and for every option
and measure a column `option:measure`, empty where the option could not be used.
"""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import BadInput

Numbers = npt.NDArray[np.float64]
FORMAT = "# traces of Veil, version 1"


@dataclass(frozen=True, eq=False)
class Traces:
    """What every option did on public databases.

    `facts` are databases x fact names; `quality` has for each measure an array of databases x options, higher being
    better, NaN where an option refused. A family is a kind of databases that have more in common than their facts say.
    """

    databases: tuple[str, ...]
    families: tuple[str, ...]
    fact_names: tuple[str, ...]
    options: tuple[str, ...]
    facts: Numbers
    quality: dict[str, Numbers]

    def __post_init__(self) -> None:
        shapes = {table.shape for table in self.quality.values()}
        known = (len(self.databases), len(self.fact_names)) == self.facts.shape and np.isfinite(self.facts).all()
        endless = any(np.isinf(table).any() for table in self.quality.values())
        if not known or endless or shapes != {(len(self.databases), len(self.options))} or not len(self.databases):
            raise BadInput("traces need at least one database, with a number for every fact, option and measure")

    def __len__(self) -> int:
        return len(self.databases)

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(self.quality)

    def only(self, which: Sequence[int] | npt.NDArray[np.intp]) -> "Traces":
        """The traces of these databases, by place."""
        kept = [int(place) for place in which]
        return replace(
            self,
            databases=tuple(self.databases[place] for place in kept),
            families=tuple(self.families[place] for place in kept),
            facts=self.facts[kept],
            quality={measure: table[kept] for measure, table in self.quality.items()},
        )

    def without(self, family: str) -> "Traces":
        """The traces of all other families."""
        return self.only([place for place, one in enumerate(self.families) if one != family])

    def of_options(self, options: Sequence[str]) -> "Traces":
        """The traces of these options alone, in this order."""
        places = [self.options.index(option) for option in options]
        return replace(self, options=tuple(options), quality={m: table[:, places] for m, table in self.quality.items()})

    def to_text(self, digits: int = 3) -> str:
        """The table as text, comma separated, with a first line that says what it is."""
        columns = [f"{option}:{measure}" for measure in self.measures for option in self.options]
        text = io.StringIO()
        print(FORMAT, file=text)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["database", "family", *self.fact_names, *columns])
        for place, (database, family) in enumerate(zip(self.databases, self.families, strict=True)):
            values = [*self.facts[place], *(v for table in self.quality.values() for v in table[place])]
            writer.writerow([database, family, *("" if np.isnan(v) else _short(v, digits) for v in values)])
        return text.getvalue()

    def write(self, path: str | os.PathLike[str], digits: int = 3) -> None:
        """Write the table to a file."""
        Path(path).write_text(self.to_text(digits), encoding="utf-8")


def read_traces(path: str | os.PathLike[str]) -> Traces:
    """The traces in a file that `Traces.write` wrote. Raises BadInput for any other file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError:
        raise BadInput(f"there is no file of traces {path}: check the path") from None
    except (BadInput, ValueError, IndexError, KeyError, csv.Error):
        raise BadInput(f"{path} holds no traces, or those of another version of Veil: make them again") from None


def parse(text: str) -> Traces:
    """The traces in the text of such a file."""
    first, _, rest = text.partition("\n")
    if first.strip() != FORMAT:
        raise ValueError
    header, *rows = csv.reader(io.StringIO(rest))
    if header[:2] != ["database", "family"] or any(len(row) != len(header) for row in rows):
        raise ValueError
    numbers = np.array([[float(cell) if cell else np.nan for cell in row[2:]] for row in rows]).reshape(len(rows), -1)
    names = header[2:]
    facts = [name for name in names if ":" not in name]
    options = list(dict.fromkeys(name.split(":")[0] for name in names if ":" in name))
    measures = dict.fromkeys(name.split(":")[1] for name in names if ":" in name)
    place = {name: column for column, name in enumerate(names)}
    quality = {measure: numbers[:, [place[f"{one}:{measure}"] for one in options]] for measure in measures}
    databases, families = (tuple(row[column] for row in rows) for column in (0, 1))
    return Traces(
        databases, families, tuple(facts), tuple(options), numbers[:, [place[fact] for fact in facts]], quality
    )


def _short(value: float, digits: int) -> str:
    """A number in few characters: .824, not 0.824."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text or "0"
