"""What the commands that charge a ledger share: checks before any charge, the plan, files, and the cost."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from ..addresses import is_spark, without_passwords
from ..choice.trace import Prediction, in_words
from ..display import absent, amount, number, readable
from ..errors import BadInput, LedgerProblem
from ..files.tables import RowFile, check_space, check_types, new_file, writing
from ..forecast import Forecast, declared_rows, forecast
from ..kernel import Budget, Ledger
from ..pages import Published
from ..plans.binned import FOUND, PUBLIC, bins_of, in_short, search_cost
from ..plans.effort import to_choose
from ..plans.outcome import Outcome, total
from ..plans.rehearsal import HEADER, plan_cell
from ..plans.run import check_budget, guessed_rows
from ..questions import Grid
from ..schema import Schema
from ..schema.mistakes import lines_of
from ..verdicts import Verdict
from ..verdicts.expected import of_rehearsal
from ..verdicts.learned import MEASURE
from .output import Stopped, amounts, console, echo, files_of, print_json, show_table, steps

FEW = 4  # lines of a schema that are named
STYLES = {"good": "green", "fair": "yellow", "poor": "bold red", "nothing": "bold red", "unknown": "yellow"}
PAGE, WIDTH = 1 << 22, 32  # bytes of a report, and of a number or value in a file, at most about
SLOWER = "of rows in Parquet, as CSV takes more"
OPEN = "The schema declares the rows public: the {what} is NOT private."
SEEDED = "Seeded noise, which whoever knows the seed can remove: the {what} is NOT private."
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        parser=lambda text: text if is_spark(text) else Path(text),
        help="The rows: CSV, gzipped CSV, Parquet or a folder of it, of any size; spark:PATH or spark:TABLE by Spark.",
    ),
]
Public = Annotated[Path, typer.Option(help="What is public about them, a TOML file.")]
LedgerPlace = Annotated[
    str | None,
    typer.Option(
        metavar="LEDGER",
        help="The ledger to charge, of veil ledger create: a file, or an address such as "
        "postgresql://host/database?ledger=survey. Without one, nothing adds up what you spend.",
    ),
]
Writer = Callable[[Path, Any], None]  # writes a result into the draft of a file
Note = Annotated[str, typer.Option(help="A few words for the ledger: what this is for.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan; open no rows, charge nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


def file_of(path: Path | str, encoding: str, multiline: bool, schema: Schema, declared: Path | None = None) -> RowFile:
    """The file of rows. Raises BadInput about missing columns, or columns of a type that cannot fit, before anything is
    read or charged; `declared` is the file of the schema, whose lines are named."""
    data = rows_at(path, encoding, multiline)
    present = data.types()
    named = (*(column.name for column in (*schema.features, *schema.texts)), schema.person, schema.label)
    wanted = [name for name in named if name]
    if said := absent(wanted, present, f"the rows of {data.path}"):
        raise BadInput(f"{said}{_lines(declared, [name for name in wanted if name not in present])}")
    check_types(present, schema)
    return data


def _lines(declared: Path | None, names: Sequence[str]) -> str:
    """Where a schema's file declares these columns: " (line 8 of survey.toml)"; "" if that is not known."""
    if declared is None:
        return ""
    text = declared.read_text(encoding="utf-8-sig")
    columns = [column.get("name") for column in tomllib.loads(text)["column"]]
    places = lines_of(text, len(columns))
    found = [places.get((columns.index(name), "name")) for name in names if name in columns]
    known = [str(line) for line in found if line]
    return f" (line{'s' * (len(known) > 1)} {', '.join(known)} of {declared})" if 0 < len(known) <= FEW else ""


def rows_at(place: Path | str, encoding: str = "utf-8", multiline: bool = False) -> RowFile:
    """The rows at a place: those of a file, or what Spark reads."""
    if not is_spark(place):
        return RowFile(place, encoding, multiline)
    from ..files.spark import SparkRows

    return SparkRows(place)


def open_ledger(ledger: str | None, note: str, out: Path | None) -> Ledger | None:
    """The ledger that a command names, or None; its receipts will bear the note and the name of the file."""
    return None if ledger is None else Ledger.open(ledger).noted(without_passwords(note), file=out or "")


def own_ledger(cost: Budget, schema: Schema, note: str, out: Path | None) -> Ledger:
    """A ledger in memory with this cost as its limit, for a command without a ledger."""
    return Ledger(cost, schema.name).noted(without_passwords(note), file=out or "")


@contextmanager
def saying_charges(shared: Ledger | None, cost: Budget) -> Iterator[None]:
    """Run the body if the ledger can pay for it; if it is interrupted or fails, print what the ledger was charged
    meanwhile, which is not refunded."""
    if shared:
        check_budget(shared, cost)
    before = shared.spent if shared else Fraction(0)
    try:
        yield
    except BaseException as problem:
        said = _charged_since(shared, before)
        if not isinstance(problem, Exception):  # interrupted or told to end: nobody else says a word
            echo(f"veil: stopped; {said or 'no ledger was charged'}", err=True)
            raise Stopped(getattr(problem, "code", 130)) from None
        elif said:
            echo(f"veil: {said}", err=True)
        raise


def _charged_since(shared: Ledger | None, before: Fraction) -> str:
    """What the ledger was charged since it stood at `before`, in words; "" if that is nothing."""
    try:
        charged = shared.spent - before if shared else Fraction(0)
    except LedgerProblem:  # its server, or its disk, may be what stopped the command
        return "what was charged to the ledger since the start stays charged"
    return f"epsilon {amount(charged)} was charged to the ledger since the start, and stays charged" if charged else ""


def run_and_write(
    open_rows: Callable[[], Any],
    make: Callable[[Any], Any],
    out: Path,
    write: Writer,
    others: Mapping[Path, Writer],
    force: bool,
    quiet: bool = False,
) -> Any:
    """Open the rows, call `make` on them, and write the result to `out` and to the other files. Returns the result.

    The files are opened first, so that nothing is charged if they cannot be written; `out` is complete before the
    others are begun, so that what was paid for is kept, whatever happens to these.
    """
    names = ["reading rows", "asking", *["writing"] * len(others)]
    with ExitStack() as files, steps(*names, quiet=quiet) as step:
        drafts = {path: _opened(path, force, files) for path in others}
        with new_file(out, force=force) as draft:
            rows = open_rows()
            step()
            made = make(rows)
            with writing(out):
                write(draft, made)
        step()
        with _saying([out], [*others]) as saved:
            for path, finish in others.items():
                with writing(path):
                    finish(drafts[path][0], made)
                drafts[path][1].close()
                saved(path)
                step()
    return made


def _opened(path: Path, force: bool, files: ExitStack) -> tuple[Path, ExitStack]:
    """The path of a draft, and the context that gives it its final name, or removes it if something fails before."""
    one = files.enter_context(ExitStack())
    return one.enter_context(new_file(path, force=force)), one


@contextmanager
def _saying(done: list[Path], coming: list[Path]) -> Iterator[Callable[[Path], None]]:
    """If the body fails, print which files are saved and which are not; it calls the yielded function for each."""
    try:
        yield done.append
    except BaseException:
        lost = ", ".join(str(path) for path in coming if path not in done)
        said = f"saved and whole: {', '.join(map(str, done))}; not saved: {lost}"
        echo(f"veil: {without_passwords(said)}", err=True)
        raise


def check_disk(schema: Schema, *paths: Path | str | None, more: Mapping[Path, int] | None = None) -> None:
    """Raise, before anything is charged, if the disk seems too full for the files; a generous estimate.

    `more` are files of rows, each with its approximate number of rows.
    """
    codes = sum(column.size for column in (*schema.features, *schema.texts))
    size = PAGE + WIDTH * codes * len(schema.classes)
    rows = {path: WIDTH * number * len(schema.column) for path, number in (more or {}).items()}
    check_space({**{path: size for path in files_of(*paths)}, **rows})


def report_writer(ledger: Ledger, part: str = "", links: Mapping[str, str] | None = None) -> Writer:
    """A function that writes a report, with the ledger's balance, the part of the rows, and links to other pages."""

    def write(draft: Path, made: Any) -> None:
        from ..report import report

        page = report(made, left=ledger.left, limit=ledger.limit, part=part, links=links or {})
        draft.write_text(page, encoding="utf-8")

    return write


def facts(made: Published, ledger: Ledger) -> dict[str, Any]:
    """The method, verdict, cost and receipts of a result, for JSON; amounts are exact, as in the ledger."""
    outcome = made.outcome_
    receipts = [receipt.to_dict() for receipt in outcome.receipts]
    costs = amounts(epsilon=outcome.epsilon, left=ledger.left)
    worth = {"method": outcome.method, "verdict": made.verdict_.to_dict()}
    return {**worth, **costs, "private": outcome.private, **_search_facts(outcome), "receipts": receipts}


def _search_facts(outcome: Outcome[Any]) -> dict[str, Any]:
    """{"bins": ...}: of which columns they were found and of which the public ones kept, and the cost; {} if none."""
    ways = {how: [one.column.name for one in bins_of(outcome) if one.how == how] for how in (FOUND, PUBLIC)}
    return {"bins": {**ways, **amounts(epsilon=search_cost(outcome))}} if search_cost(outcome) else {}


def say_bins(outcome: Outcome[Any]) -> None:
    """Print of how many columns bins were found and for how much; nothing if there was no search."""
    if said := in_short(outcome):
        console.print(f"{said[:1].upper()}{said[1:]}.", markup=False, soft_wrap=True)


def say_verdict(verdict: Verdict) -> None:
    """Print the verdict on a result, and its advice."""
    style = STYLES[verdict.level]
    console.print(f"{verdict.words[:1].upper()}{verdict.words[1:]}.", style=style, markup=False, soft_wrap=True)
    if verdict.advice:
        advice = f"{verdict.advice[:1].upper()}{verdict.advice[1:]}."
        console.print(advice, style=style, markup=False, soft_wrap=True)


def say(
    made: Published, what: str, out: Path, page: Path | None, ledger: Ledger, shared: bool, beside: Sequence[Any] = ()
) -> None:
    """Print the verdict on a result, which files were written, whether it is private and what it cost.

    `shared` says whether it was charged to a ledger file.

    `beside` are receipts of other answers in the same run.
    """
    outcome, verdict = made.outcome_, made.verdict_
    measured = bool(beside) and verdict.advice == MEASURE
    say_verdict(replace(verdict, advice="") if measured else verdict)
    say_not_private(outcome, what)
    may = _may_be_published(outcome, "Both" if page else "It")
    console.print(f"Wrote {out}{f', and {page}' if page else ''}: open it in a browser.{may}", markup=False)
    say_bins(outcome)
    cost = f"It cost epsilon {amount(total([*outcome.receipts, *beside]))}"
    if shared:
        console.print(f"{cost}; the ledger has {amount(ledger.left)} of {amount(ledger.limit)} left.")
    else:
        console.print(f"{cost}; no ledger was charged: use --ledger if more is to follow.")


def say_not_private(outcome: Outcome[Any], what: str) -> None:
    """Print why the promise does not hold; nothing if it does."""
    if not outcome.private:
        console.print((OPEN if outcome.schema.public else SEEDED).format(what=what), style="bold red")


def _may_be_published(outcome: Outcome[Any], what: str) -> str:
    """A sentence that the result may be published, or a warning if epsilon is so large that it hides little."""
    from ..report.sections import WEAK, hidden

    weak = outcome.epsilon > WEAK
    return hidden(outcome) if weak or not outcome.private else f" {what} may be published."


def show_plan(
    releases: Sequence[Any],
    schema: Schema,
    shared: Ledger | None,
    as_json: bool = False,
    expect: Callable[[Sequence[Any], Schema], Verdict] = of_rehearsal,
    quality: Sequence[Prediction] | None = None,
    more: Mapping[str, Any] | None = None,
    lines: Sequence[str] = (),
) -> None:
    """Print how a run would divide its budget, how long it would take, and the verdict and quality to expect.

    `more` is told in JSON, and `lines` elsewhere."""
    found = forecast(releases, schema, expect, quality)
    if as_json:
        rows = [{**row._asdict(), **amounts(epsilon=row.epsilon)} for row in found.asked]
        estimate = {"rows": found.rows, "seconds": found.seconds, "megabytes": found.megabytes}
        estimate |= {"seconds_to_choose": _seconds_to_choose(releases, schema)}
        left = amounts(left=shared.left) if shared else {}
        expected = [asdict(one) for one in found.quality]
        told = {"verdict": found.verdict.to_dict(), "largest": found.largest, "expected": expected}
        print_json({"plan": rows, **(more or {}), **estimate, **left, **told})
        return
    shown = [(*row[:2], *map(plan_cell, row[2:])) for row in found.asked]
    shown.append(("together", "", amount(found.cost), "", "", ""))
    show_table("The plan", [*HEADER, "of about"], shown)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    _say_how_to_read(releases)
    _say_of_about(schema)
    _say_of_verbs(releases, schema)
    _say_left(shared, found.cost)
    _say_size(found)
    if found.largest:
        console.print(found.largest, style="yellow", markup=False, soft_wrap=True)
    say_verdict(found.verdict)
    if found.trace:
        console.print(f"With {found.made_up:,} rows, {found.trace.chosen} would be chosen.")
    if found.quality:
        console.print(f"{in_words(found.quality)}.", markup=False, soft_wrap=True)
    console.print("Nothing was charged, and no row was opened.")


def _say_of_verbs(releases: Sequence[Any], schema: Schema) -> None:
    """Print notes on a plan's answers: whether they are about disjoint rows, build on each other, or take time."""
    if len({release.receipt.account for release in releases}) > 1:
        console.print("Answers about disjoint rows cost what the dearest of them do.")
    verbs = {release.receipt.verb for release in releases if not release.receipt.verb.startswith("count")}
    if verbs:
        made_up = f"those of {guessed_rows(schema):,} made-up rows"
        console.print(f"Later questions follow from earlier answers, here from {made_up}.")
    if "choose_bins" in verbs:
        console.print("choose_bins finds bins within the bounds, before anything else: in a run, those of its rows.")
    if verbs - {"quantiles", "minimise", "choose_bins"}:
        taken = _seconds_to_choose(releases, schema)
        time = f", in about {number(taken)} s for {declared_rows(schema):,} rows" if taken >= 1 else ""
        console.print(f"Choosing takes time of its own: each candidate is counted{time}.")


def _seconds_to_choose(releases: Sequence[Any], schema: Schema) -> float:
    """About how long it takes to choose among the candidates of these answers, for the rows of the schema."""
    asked = [release.receipt.question for release in releases if release.receipt.verb == "choose"]
    candidates = sum(int(found[0]) for question in asked if (found := re.search(r"\d+", question)))
    return to_choose(candidates, declared_rows(schema), len(schema.features))


def _say_of_about(schema: Schema) -> None:
    """Print which counts the noise is compared with."""
    guess = "" if schema.rows is not None else " The schema does not say how many there are: rows = N would."
    console.print(f"“Of about” is a count of {guessed_rows(schema):,} rows, if they are spread evenly.{guess}")


def _say_how_to_read(releases: Sequence[Any]) -> None:
    """Print what the name of a table means, if there is one of a single column."""
    grids = [release.question for release in releases if isinstance(release.question, Grid)]
    for grid in [grid for grid in grids if len(grid.axes) == 1][:1]:
        name = readable(grid.columns[0])
        console.print(
            f"{readable(grid.describe())} stands for a table of the {grid.size} codes of column {name} by class.",
            markup=False,
        )


def _say_left(shared: Ledger | None, cost: Fraction) -> None:
    if shared:
        console.print(f"The ledger has {amount(shared.left)} of {amount(shared.limit)} left.")
        if shared.left < cost:
            console.print("It would refuse this.", style="bold red")


def _say_size(found: Forecast) -> None:
    """Print the time and memory of a run by the method that is known, or of reading alone."""
    guess = "" if found.schema.rows else ", if there were so many,"
    what = f"{found.known} takes" if found.known else "reading takes"
    time = f"about {number(found.seconds)} s" if found.seconds >= 1 else "less than a second"
    memory = f"about {max(round(found.megabytes), 1):,} MB of memory"
    console.print(
        f"For {found.rows:,} rows{guess} {what} {time} on one core and {memory}, beyond a start, {SLOWER}.",
        soft_wrap=True,
    )
