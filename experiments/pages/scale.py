"""The tables of docs/guide/large.md, from what `make bench-scale` and `make bench-spark` measured."""

import json
import re

from .. import DOCS
from ..bench import spark
from ..bench.scale import KEPT

PAGE = DOCS / "guide" / "large.md"
WORDS = {
    "naive Bayes": "naive-bayes",
    "logistic regression": "logistic",
    "svm": "svm",
    "tree": "tree",
    "PrivPfC": "privpfc",
    "naive Bayes, part of the rows": "naive-bayes, test share",
    "naive Bayes, people by number": "naive-bayes, people by number",
    "naive Bayes, people by text": "naive-bayes, people by text",
}
UNITS = {"ns": "ns a row", "MB": "MB"}
PLACE = re.compile(r"(<!-- scale -->\n).*?(<!-- end -->)", re.S)
BILLION = re.compile(r"(<!-- billion -->\n).*?(<!-- end -->)", re.S)
SPARK = re.compile(r"(<!-- spark -->\n).*?(<!-- end -->)", re.S)
WAYS = {
    "local": "from the file, without Spark",
    "files": "Spark's workers open the file: `spark:rows.parquet`",
    "data frame": "a data frame of Spark",
}


def filled(page: str) -> str:
    """The text of the page with the table of what was measured."""
    kept = json.loads(KEPT.read_text())
    head = "| | " + " | ".join(f"{int(one['rows']):,} rows" for one in kept) + " |\n|---" + "|---" * len(kept) + "|\n"
    rows = {
        "reading with PyArrow alone, s": "decoding, s",
        "naive Bayes, s": "naive-bayes, s",
        "naive Bayes / reading": "naive-bayes / decoding",
        **{f"{words}, {unit}": f"{run}, {key}" for words, run in WORDS.items() for unit, key in UNITS.items()},
        "a start without rows, s": "start, s",
        "a start without rows, MB": "start, MB",
        "memory with 30 more columns / without": "30 more columns, memory",
    }
    lines = [f"| {words} | " + " | ".join(_cell(one, name) for one in kept) + " |\n" for words, name in rows.items()]
    page = PLACE.sub(lambda found: f"{found[1]}\n{head}{''.join(lines)}\n{found[2]}", page)
    page = BILLION.sub(lambda found: f"{found[1]}\n{_of_a_billion(kept)}\n{found[2]}", page)
    return SPARK.sub(lambda found: f"{found[1]}\n{_of_spark()}\n{found[2]}", page)


def _of_a_billion(kept: list[dict[str, float]]) -> str:
    """What 10^9 rows would take at the cost a row of the largest table that each run was measured on."""
    lines = ["| | processor minutes | measured up to |\n|---|---|---|\n"]
    for words, run in {"reading with PyArrow alone": "decoding", **WORDS}.items():
        largest = max((one for one in kept if f"{run}, s" in one), key=lambda one: one["rows"])
        minutes = largest[f"{run}, s"] / largest["rows"] * 1e9 / 60
        lines.append(f"| {words} | about {minutes:.2g} | {largest['rows']:,.0f} rows |\n")
    return "".join(lines)


def _of_spark() -> str:
    """What rows from Spark take, and what 10^9 rows would at the same cost a row."""
    kept = json.loads(spark.KEPT.read_text())
    rows = kept["rows"]
    head = f"| | {rows:,.0f} rows, s | / without Spark | 1,000,000,000 rows, s | a start, s |\n|---|---|---|---|---|\n"
    lines = [
        f"| {words} | {kept[f'{way}, s']:.1f} | {kept[f'{way} / local']:.2f} | "
        f"about {round(kept[f'{way}, s'] / rows * 1e9, -1):,.0f} | {kept[f'{way}, start, s']:.1f} |\n"
        for way, words in WAYS.items()
    ]
    return head + "".join(lines)


def _cell(one: dict[str, float], name: str) -> str:
    value = one.get(name)
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def write() -> None:
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
