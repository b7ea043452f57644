"""veil train: a private model from a file of rows. scikit-learn and matplotlib load only when they are needed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import amount, number
from ..errors import BadInput, BudgetRefused
from ..files import column_types, new_file, read_rows
from ..kernel.budget import Budget
from ..kernel.ledger import Ledger
from ..schema import Schema
from .output import Json, check_paths, console, print_json, show_table, steps

SECONDS = 8e-8  # to read and encode one value, about
OPEN = "The schema declares the rows public: the model is NOT private."
SEEDED = "Seeded noise, which whoever knows the seed can remove: the model is NOT private."


def train(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The rows: CSV, gzipped CSV or Parquet.")],
    schema: Annotated[Path, typer.Option(help="What is public about them, a TOML file.")],
    epsilon: Annotated[str, typer.Option(help="What the model may cost, such as 1 or 1/2.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the model, such as model.veil.")] = None,
    method: Annotated[str, typer.Option(help="How to learn.")] = "naive-bayes",
    ledger: Annotated[
        Path | None, typer.Option(help="The account to charge; without one, a budget of exactly epsilon.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the model is then NOT private.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the report; beside the model if absent.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan; open no rows, charge nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Train a private model, and write it with a report of what was asked and what it cost."""
    public, model = Schema.read(schema), _model(method, epsilon, seed)
    model.schema = public
    _check_names(data, public)
    account = Ledger.open(ledger) if ledger else None
    if dry_run:
        show_plan(model, account, as_json)
        return
    if out is None:
        raise BadInput("say where to write the model, such as --out model.veil")
    page = report or out.with_suffix(".html")
    check_paths(out, page, data, schema, ledger)
    if account:
        _check_budget(account, Budget(epsilon))
    model.ledger = account or Ledger(Budget(epsilon), public.name)
    _train(model, data, out, page, force)
    _say(model, out, page, account, as_json)


def _model(method: str, epsilon: str, seed: int | None) -> Any:
    from ..models import METHODS

    if method not in METHODS:
        raise BadInput(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    return METHODS[method](epsilon=Budget(epsilon).epsilon, random_state=seed)


def _check_names(data: Path, schema: Schema) -> None:
    """Complain about absent columns before anything is read or charged."""
    from ..models.rows import inputs

    present = column_types(data)
    wanted = [*inputs(schema, dict(present)), *([schema.label] if schema.label else [])]
    if absent := [name for name in wanted if name not in present]:
        raise BadInput(f"{data} has no column {', '.join(map(repr, absent))}: rename it, or change the schema")


def _train(model: Any, data: Path, out: Path, page: Path, force: bool) -> None:
    """Fit and write. The files are opened first, so that nothing is charged if they cannot be written; the model is
    whole before the report is begun, so that what was paid for is kept whatever happens to the report."""
    from ..models.files import write_model
    from ..report import report as report_page

    with new_file(page, force=force) as page_draft, steps("reading rows", "asking", "writing") as step:
        with new_file(out, force=force) as model_draft:
            rows = read_rows(data)
            step()
            model.fit(rows)
            write_model(model_draft, model)
        step()
        page_draft.write_text(report_page(model, left=model.ledger.left, limit=model.ledger.limit), encoding="utf-8")
        step()


def _check_budget(account: Ledger, budget: Budget) -> None:
    """Refuse before the rows are read what the ledger would refuse afterwards."""
    if account.left < budget.epsilon:
        raise BudgetRefused(
            f"epsilon {amount(budget.epsilon)} is more than the {amount(account.left)} that is left in the ledger: "
            "ask for less or stop here; nothing was charged"
        )


def _say(model: Any, out: Path, page: Path, account: Ledger | None, as_json: bool) -> None:
    left, spent = model.ledger.left, sum(receipt.epsilon for receipt in model.receipts_)
    if as_json:
        receipts = [receipt.to_dict() for receipt in model.receipts_]
        costs = {"epsilon": str(spent), "left": str(left), "private": model.private_}
        print_json({"model": str(out), "report": str(page), "method": model.method, **costs, "receipts": receipts})
        return
    if not model.private_:
        console.print(SEEDED if not model.schema.public else OPEN, style="bold red")
    publish = " Both may be published." if model.private_ else ""
    console.print(f"Wrote {out}, and {page}: open it in a browser.{publish}", markup=False)
    if account:
        console.print(
            f"It cost epsilon {amount(spent)}; the ledger has {amount(left)} of {amount(account.limit)} left."
        )
    else:
        console.print(f"It cost epsilon {amount(spent)}; no ledger was charged: use --ledger if more is to follow.")
    console.print(f"Next: veil predict {out} DATA --out predictions.csv", markup=False)


def show_plan(model: Any, account: Ledger | None, as_json: bool = False) -> None:
    """How a fit would divide its budget, and what it would take."""
    plan, schema = plan_rows(model), model.schema
    width = sum(column.dtype.itemsize for column in (*schema.features, schema.get(schema.label)))
    values = len(schema.features) + 1
    if as_json:
        names = ["answer", "about", "epsilon", "scale", "within"]
        estimate = {"seconds_per_million_rows": SECONDS * values * 1e6, "megabytes_per_million_rows": width}
        left = {"left": str(account.left)} if account else {}
        print_json({"plan": [dict(zip(names, row, strict=True)) for row in plan], **estimate, **left})
        return
    cost = Budget(model.epsilon).epsilon
    plan.append(("together", "", amount(cost), "", ""))
    show_table("The plan", ["answer", "about", "epsilon", "noise scale", "95 % of counts within"], plan)
    console.print("age[7] stands for a table of the 7 codes of column age by class.", markup=False)
    if account:
        console.print(f"The ledger has {amount(account.left)} of {amount(account.limit)} left.")
        if account.left < cost:
            console.print("It would refuse this.", style="bold red")
    rows, guess = schema.rows or 1_000_000, "" if schema.rows else " (the schema does not say how many there are)"
    seconds, memory = SECONDS * values * rows, width * rows / 1e6
    console.print(f"For {rows:,} rows{guess} expect about {number(seconds)} s and {number(memory)} MB of codes.")
    console.print("Nothing was charged, and no row was opened.")


def plan_rows(model: Any) -> list[tuple[Any, ...]]:
    """Each answer that a fit would ask for: verb, question, its part of epsilon, noise scale, 95 % error."""
    people = model.schema.rows_per_person
    return [
        (
            release.receipt.verb,
            release.question.describe() if release.question else release.receipt.question,
            number(people / release.scale) if release.scale else amount(release.receipt.epsilon),
            number(release.scale) if release.scale else "",
            release.error() if release.scale and release.receipt.verb.startswith("count") else "",
        )
        for release in model.rehearse()
    ]
