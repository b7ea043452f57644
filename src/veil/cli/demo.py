"""veil demo: a private count table of a real survey."""

from typing import Annotated

import typer

from .. import datasets
from ..display import amount, number
from ..kernel.budget import Budget
from ..kernel.ledger import Ledger
from ..kernel.source import open_source
from ..questions import grid
from .output import console, show_table


def demo(
    epsilon: Annotated[str, typer.Option(help="What the count may cost, at most 1.")] = "0.5",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeatable noise, for tests: the answer is then NOT private.")
    ] = None,
) -> None:
    """Count a real survey under a budget: how happy is the marriage, and was there an affair?"""
    rows, schema = datasets.load("fair")
    ledger = Ledger(1, schema.name)
    source = open_source(rows, schema, ledger, noise=seed)
    show_table("What is public: the schema", ["column", "kind", "codes", "of"], schema._rows())

    release = source.count(grid(schema, "rate_marriage"), Budget(epsilon))
    names = grid(schema, "rate_marriage").axes[0].names
    table = [
        (name, no, yes, _share(yes, no + yes, release.error()))
        for name, (no, yes) in zip(names, release.value, strict=True)
    ]
    if seed is not None:
        console.print(
            "Seeded noise, which whoever knows the seed can remove: these counts are NOT private.", style="red"
        )
    show_table("Marriage rated 1 (very poor) to 5 (very good), by affair", ["rating", "no", "yes", "affairs"], table)
    scale, error, cost = number(release.scale or 0), release.error(), amount(release.receipt.epsilon)
    console.print(f"Every count has noise of scale {scale}: 95 % of them are within {error} of the truth.")
    if seed is None:
        console.print(f"No one's answers change the odds of anything printed here by more than a factor of e^{cost}.")
    console.print(f"\n{ledger}", markup=False)


def _share(part: int, whole: int, error: int) -> str:
    """A share of noisy counts, if there is more to it than noise."""
    return f"{part / whole:.0%}" if whole > 3 * error else "-"
