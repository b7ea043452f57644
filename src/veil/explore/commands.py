"""What a page ends in: a command, a script or a notebook to copy. Running it, elsewhere, opens rows and charges."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ..display import amount, printable

DATA, OUT = "DATA.csv", "model.veil"  # of the owner's: the page does not know where rows are
SEEDS = 5  # of a comparison that nothing was measured for yet


@dataclass(frozen=True)
class Training:
    """A model that somebody may train: by a method, for an epsilon, charged to a ledger if there is one."""

    schema: Path
    name: str
    method: str
    kind: str  # the class of the method
    epsilon: Fraction
    ledger: Path | None = None

    @property
    def price(self) -> str:
        """The epsilon as it is typed."""
        text = amount(self.epsilon)
        return text if "^" not in text and "about" not in text else str(self.epsilon)

    def command(self) -> str:
        """The command for a shell."""
        words = ["veil", "train", DATA, "--schema", _file(self.schema), "--epsilon", self.price]
        words += [] if self.method == "auto" else ["--method", self.method]
        words += ["--ledger", _file(self.ledger)] if self.ledger else []
        return shlex.join([*words, "--out", OUT])

    def steps(self) -> list[tuple[str, str]]:
        """The steps in Python, each with what it is for."""
        charged = (
            f"veil.Ledger.open({str(self.ledger)!r})" if self.ledger else f"veil.Ledger({self.price!r}, {self.name!r})"
        )
        asked = f"epsilon={self.price!r}, schema={str(self.schema)!r}, ledger=ledger"
        return [
            ("The ledger that is charged.", f"import veil\n\nledger = {charged}"),
            (
                "What will be asked: free, and no row is opened.",
                f"model = veil.{self.kind}({asked})\nprint(model.rehearse())",
            ),
            (
                "The fit opens the rows and charges the ledger.",
                f"model.fit(veil.read_csv({DATA!r}))\nprint(model.verdict_)",
            ),
            (
                "A file of released values, and a report.",
                f"model.save({OUT!r})\nmodel.report({Path(OUT).stem + '.html'!r})",
            ),
        ]

    def script(self) -> str:
        """The same as a script."""
        title = f"# A private model of {printable(self.name)!r} for epsilon {self.price}."
        return "\n\n".join([title, *(f"# {words}\n{code}" for words, code in self.steps())]) + "\n"

    def notebook(self) -> str:
        """The same as a notebook."""
        named = printable(self.name).replace("`", "'")  # between these, nothing is drawn or fetched
        cells = [_cell("markdown", f"# A private model of `{named}` for epsilon {self.price}", 0)]
        for place, (words, code) in enumerate(self.steps()):
            cells += [_cell("markdown", words, 2 * place + 1), _cell("code", code, 2 * place + 2)]
        kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(kind: str, text: str, place: int) -> dict[str, object]:
    more: dict[str, object] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": text.splitlines(keepends=True), **more}


def compare_command(methods: Sequence[str], data: Sequence[str], epsilons: Sequence[str], seeds: int = SEEDS) -> str:
    """The command that compares methods on public tables."""
    words = ["veil", "compare", "--data", ",".join(data)]
    words += ["--methods", ",".join(methods)] if methods else []
    words += ["--epsilons", ",".join(epsilons)] if epsilons else []
    return shlex.join([*words, "--seeds", str(seeds), "--out", "results.parquet", "--report", "compare.html"])


def ranges_command(
    columns: Sequence[str], data: str, methods: Sequence[str], epsilons: Sequence[str], seeds: int = SEEDS
) -> str:
    """The command that compares methods for histograms of these columns of public rows."""
    words = ["veil", "compare", "--data", data, "--ranges", ",".join(columns), "--methods", ",".join(methods)]
    words += ["--epsilons", ",".join(epsilons), "--seeds", str(seeds)]
    words += ["--out", "ranges.zip", "--report", "ranges.html"]
    return shlex.join(words)


def verify_command(ledger: Path, witness: str = "") -> str:
    """The command that checks a ledger."""
    return shlex.join(["veil", "ledger", "verify", _file(ledger), *(["--against", _file(witness)] if witness else [])])


def _file(path: Path | str) -> str:
    """A path that no command takes for an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)
