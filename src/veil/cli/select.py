"""veil select: the best columns of a table, or words of a text, chosen privately."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..display import amount, number
from ..errors import BadInput, VeilError
from ..files.tables import RowFile, new_file, writing
from ..kernel import Budget, Ledger
from ..plans.selecting.selection import ABOVE, BEST
from ..schema import Schema
from ..verdicts import Verdict, of_selection
from ..verdicts.expected import of_rehearsal
from ..verdicts.selected import CHOSEN
from . import charge
from .output import Encoding, Json, Multiline, check_paths, console, echo, print_json, show_table, steps

SCORE_NAMES = "gini, entropy, majority or purity; of words also count or difference"  # spelled out: models load slowly
SCALE = "a number of rows; by gini and entropy minus rows x impurity, so below zero"
WAYS = "auto, peel, perturb, cluster; with a threshold also sieve; or discernibility, which has no score"


def select(
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[
        str,
        typer.Option(
            help="What the selection may cost, such as 1 or 1/2: the less, the more noise and the more privacy."
        ),
    ],
    score: Annotated[str, typer.Option(help=f"What makes a feature good: {SCORE_NAMES}.")] = "gini",
    k: Annotated[int | None, typer.Option("--k", min=1, help="How many to select; 10 without a threshold.")] = None,
    threshold: Annotated[float | None, typer.Option(help=f"Select what scores at least this: {SCALE}.")] = None,
    at_most: Annotated[int, typer.Option(min=1, help="With a threshold, how many at most.")] = 10,
    how: Annotated[str, typer.Option(help=f"How to choose: {WAYS}.")] = "auto",
    words_per_row: Annotated[
        int | None, typer.Option(min=1, help="Words of a row that count, if not as declared.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the schema with what was selected alone.")] = None,
    ledger: charge.LedgerPlace = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the selection is NOT private.")] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Select columns, or words of a text column, and list them, with their noisy scores where these were paid for."""
    public, cost = Schema.read(schema), Budget(epsilon)
    model = _selector(score, k, threshold, at_most, how, words_per_row)
    model.set_params(epsilon=cost.epsilon, schema=public, random_state=seed)
    rows_file = charge.file_of(data, encoding, multiline, public, schema)
    shared = charge.open_ledger(ledger, note, out)
    if dry_run:
        charge.show_plan(model.rehearse(), public, shared, as_json, partial(_expected, model))
        return
    check_paths(out, data, schema, ledger)
    charge.check_disk(public, ledger, out)
    model.ledger = shared or charge.own_ledger(cost, public, note, out)
    with charge.saying_charges(shared, cost):
        _fit(model, rows_file, out, force, as_json)
    if as_json:
        print_json({**_listed(model), **charge.facts(model, model.ledger)})
        return
    _say(model, out, shared)


def _selector(
    score: str, k: int | None, threshold: float | None, at_most: int, how: str, words_per_row: int | None
) -> Any:
    """The selector for these options."""
    from ..models import KDiscernibilitySelect, PrivateSelectKBest, PrivateSelectThreshold

    if k is not None and threshold is not None:
        raise BadInput("give --k, or --threshold with --at-most")
    known = ABOVE if threshold is not None else (*BEST, "discernibility")
    if how not in known:
        raise BadInput(f"--how must be one of {', '.join(known)}{'' if threshold is None else ' with a threshold'}")
    if how == "discernibility":
        return KDiscernibilitySelect(k=k or 3)
    given: dict[str, Any] = {"score": score, "how": how, "words_per_row": words_per_row}
    if threshold is not None:
        return PrivateSelectThreshold(threshold=threshold, at_most=at_most, **given)
    return PrivateSelectKBest(k=k or 10, **given)


class _Nothing(Exception):
    """Raised when nothing was selected: that is an answer and was paid for, but there is no schema to write."""


def _fit(model: Any, data: RowFile, out: Path | None, force: bool, quiet: bool) -> None:
    """Fit on the rows of a file, and write the schema of the selected features, whole or not at all."""
    with steps("reading rows", "asking", quiet=quiet) as step:
        if out is None:
            rows = data.stream()
            step()
            model.fit(rows)
        else:
            # opened first: nothing is charged if it cannot be written
            with suppress(_Nothing), new_file(out, force=force) as draft:
                rows = data.stream()
                step()
                model.fit(rows)
                if not len(model.selected_):
                    raise _Nothing
                with _kept_words(model), writing(out):
                    draft.write_text(model.selected_schema_.to_toml(), encoding="utf-8")
        step()


@contextmanager
def _kept_words(model: Any) -> Iterator[None]:
    """Print what was selected if it cannot be written, since it was paid for."""
    try:
        yield
    except VeilError:
        echo(f"veil: selected: {', '.join(map(str, model.selected_))}", err=True)
        raise


def _expected(model: Any, releases: Any, schema: Schema) -> Verdict:
    """The verdict to expect, from a rehearsal: the noise of choices and of counts is public."""
    found = of_selection(releases, schema, 1, model.candidates(schema))
    if any(release.receipt.verb in CHOSEN for release in releases) or not releases:
        return replace(found, words=f"expected: {found.words}")
    return of_rehearsal(releases, schema)


def _listed(model: Any) -> dict[str, Any]:
    scores = None if model.scores_ is None else model.scores_.tolist()
    return {"selected": model.selected_.tolist(), "scores": scores}


def _say(model: Any, out: Path | None, shared: Ledger | None) -> None:
    charge.say_verdict(model.verdict_)
    charge.say_not_private(model.outcome_, "selection")
    scored = model.scores_ is not None
    values = [(number(score),) for score in model.scores_] if scored else [()] * len(model.selected_)
    rows = [(place, name, *value) for place, (name, value) in enumerate(zip(model.selected_, values, strict=True), 1)]
    if rows:
        chosen = any(release.receipt.verb.startswith("choose") for release in model.releases_)
        order = "the best first" if chosen or scored else "in the order of the schema"
        title = f"{'Selected' if model.releases_ else 'All kept'}, {order}"
        show_table(title, ["", "feature", *["noisy score"] * scored], rows)
    else:
        console.print(f"Nothing was selected: the threshold is too high.{' No file was written.' if out else ''}")
    if out and rows:
        follow = "" if model.verdict_.bad else f" Next: veil train DATA --schema {out}"
        console.print(f"Wrote {out}: the schema with these alone.{follow}", markup=False)
    charge.say_bins(model.outcome_)
    cost = f"It cost epsilon {amount(model.outcome_.epsilon)}"
    left = f"the ledger has {amount(shared.left)} of {amount(shared.limit)} left" if shared else "no ledger was charged"
    console.print(f"{cost}; {left}.")
