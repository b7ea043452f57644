"""The trusted part: the code through which rows, exact numbers, noise and charges pass, and which of it a result used.

Whoever audits a result reads the core and the files of the verbs, questions and columns that it used, no more.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from .kernel import Receipt, Release
from .schema import Date, Schema

CORE = (
    *("schema/refusing", "schema/spelling", "schema/encoding", "schema/codes", "schema/streams", "questions/grids"),
    *("kernel/reading", "kernel/shelf", "kernel/table", "kernel/recoding"),
    *("kernel/owning", "kernel/asking", "kernel/source", "kernel/release", "kernel/noise", "kernel/bounds"),
    *("kernel/budget", "kernel/ledger", "kernel/entries", "kernel/store", "kernel/marks"),
)
CHOOSING = ("kernel/verbs/choose", "kernel/verbs/count", "kernel/flip", "kernel/scores", "kernel/tally")
ORDERING = ("kernel/verbs/order", "kernel/flip", "questions/scorers")
SIFTING = ("kernel/verbs/sieve", *CHOOSING)
LEARNING = ("kernel/verbs/minimise", "kernel/gradients", "kernel/losses", "kernel/shaped")
SCORING = ("questions/scorers", "questions/odds", "questions/trees", "questions/drawn")
VERBS = {
    "count": ("kernel/verbs/count",),
    "occupied": ("kernel/verbs/count",),
    "count_gradually": ("kernel/verbs/gradual", "kernel/verbs/count"),
    "count_sparse": ("kernel/verbs/sparse",),
    **dict.fromkeys(("choose", "choose_best", "choose_above"), CHOOSING),
    "choose_apart": ("kernel/verbs/apart", "kernel/flip"),
    "choose_bins": ("kernel/verbs/bins", "kernel/flip"),
    "choose_range": ("kernel/verbs/ranges", "kernel/flip"),
    "segments": ("kernel/verbs/segments",),
    "choose_each": ("kernel/verbs/divide", *CHOOSING),
    "above": (*SIFTING, "kernel/goals", *ORDERING, *SCORING),  # by any question
    "sift": SIFTING,
    **dict.fromkeys(("quantile", "quantiles", "misordered"), ORDERING),
    "minimise": LEARNING,
    "split": ("kernel/verbs/split", "questions/grouped", *SCORING),  # by any question, of which receipts say nothing
}
VERBS["best_of"] = ("kernel/verbs/best", *(name for names in VERBS.values() for name in names))  # any, inside
QUESTIONS = {  # by what receipts say of them
    "groups of the cells": ("questions/grouped",),
    "tree of": ("questions/trees",),
    "drawn tree": ("questions/drawn",),
    "intervals of the score": SCORING,
    "class predicted": SCORING,
}
OF_WEIGHTS = re.compile(r"\d+ intervals of the score of (class \d+ by )?weights on ")
WEIGHING = ("questions/scorers", "questions/odds")
WORDS = ("schema/bags", "questions/words", "kernel/words")
DATES = ("schema/moments",)
PEOPLE = ("kernel/people",)
TRYING = ("models/best_of",)  # what an attempt tells nobody, no receipt tells either
JUDGING = ("evaluate/scores", "evaluate/handing", "models/rows")  # what a row is judged by must be that row alone
OPENDP = ("kernel/opendp",)
SHARED = ("kernel/database",)
SPARK = ("schema/spark",)


class File(NamedTuple):
    """A file of the trusted part, and the number of lines to read in it."""

    name: str
    lines: int


def files_used(
    schema: Schema, releases: Iterable[Release[Any]], receipts: Iterable[Receipt], *, judged: bool = False
) -> list[File]:
    """What to read to audit a result: the core, and the files of the verbs, questions and columns that it used.

    Of a result about what a model made of each row, `judged`, also those that rows pass through on their way there.
    """
    releases, receipts = list(releases), list(receipts)
    used = [*CORE, *(name for receipt in receipts for name in _of_verb(receipt))]
    chosen = [release.value.describe() for release in releases if hasattr(release.value, "describe")]
    said = [*(receipt.question for receipt in receipts), *chosen]
    used += WEIGHING * any(OF_WEIGHTS.match(text) for text in said)
    said = [text for text in said if not OF_WEIGHTS.match(text)]
    used += [name for words, names in QUESTIONS.items() if any(words in text for text in said) for name in names]
    used += WORDS * bool(schema.texts) + PEOPLE * bool(schema.person)
    used += DATES * (_selected(releases, receipts) or any(isinstance(column, Date) for column in schema.column))
    used += (*JUDGING, *SCORING, *DATES, *WORDS) * judged
    used += SHARED * any(receipt.store for receipt in receipts)
    used += SPARK * any(receipt.engine for receipt in receipts)
    used += (*TRYING, *SCORING) * any(receipt.verb == "best_of" for receipt in receipts)
    used += OPENDP * any(receipt.noise == "OpenDP" for receipt in receipts)
    return [File(f"{name}.py", lines_of(name)) for name in dict.fromkeys(used)]


def _selected(releases: list[Release[Any]], receipts: list[Receipt]) -> bool:
    """Whether answers were paid for that are not among the releases: columns that they left out may have been dates."""
    return bool({receipt.number for receipt in receipts} - {release.receipt.number for release in releases})


def _of_verb(receipt: Receipt) -> tuple[str, ...]:
    parts = VERBS["split"] if receipt.account != "/" else ()
    return (*parts, *VERBS.get(receipt.verb.replace("_words", ""), ()))


@cache
def lines_of(name: str) -> int:
    """The number of lines to read in a file."""
    text = (resources.files(__package__) / f"{name}.py").read_text(encoding="utf-8")
    return len(written(text))


def written(text: str) -> list[str]:
    """The lines of a program without blank lines, imports, and `__all__`."""
    tree, lines = ast.parse(text), text.splitlines()
    offered = [node for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    for node in [*offered, *(node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))]:
        first, end = node.lineno - 1, node.end_lineno or node.lineno
        lines[first:end] = [""] * (end - first)
    return [line for line in lines if line.strip() and not line.startswith("# fmt")]
