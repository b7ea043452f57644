"""How long the trusted part is: core, each verb and all of it, and for every method the list that its report names."""

import warnings
from typing import Any

from rich.console import Console
from rich.table import Table

from veil import Categorical, Schema, Text, datasets
from veil.models import METHODS
from veil.trusted import CORE, DATES, OPENDP, PEOPLE, QUESTIONS, SHARED, SPARK, VERBS, WORDS, files_used, lines_of

TEXTS = Schema(
    name="texts",
    label="kind",
    column=(Text(name="text", words=("free", "prize", "see", "you")), Categorical(name="kind", values=("no", "yes"))),
)
ROWS = {"text": ["free prize", "see you"] * 40, "kind": ["yes", "no"] * 40}


def trusted() -> None:
    """Print the counts."""
    others = [*WORDS, *DATES, *PEOPLE, *SHARED, *SPARK, *OPENDP]
    others += [name for names in QUESTIONS.values() for name in names]
    every = dict.fromkeys([*CORE, *(name for names in VERBS.values() for name in names), *others])
    table = Table("trusted part", "lines", "files", title="Lines that an auditor reads: all but blank ones and imports")
    table.add_row("core", str(sum(map(lines_of, CORE))), str(len(CORE)))
    for name in every:
        if name not in CORE:
            table.add_row(name, str(lines_of(name)), "1")
    table.add_row("all", str(sum(map(lines_of, every))), str(len(every)))
    Console().print(table)
    methods = Table("method", "lines", "beyond the core")
    for name, kind in METHODS.items():
        found = [file for file in files_used(*_fitted(kind))]
        more = [f"{file.name} {file.lines}" for file in found if file.name.removesuffix(".py") not in CORE]
        methods.add_row(name, str(sum(file.lines for file in found)), ", ".join(more))
    Console().print(methods)


def _fitted(kind: Any) -> tuple[Any, Any, Any]:
    """The schema, releases and receipts of a model of this kind."""
    warnings.simplefilter("ignore")
    rows, schema = (ROWS, TEXTS) if kind.of_words else datasets.load("iris")
    model = kind(epsilon=1, schema=schema, random_state=0).fit(rows)
    return model.schema_, model.releases_, model.receipts_


if __name__ == "__main__":
    trusted()
