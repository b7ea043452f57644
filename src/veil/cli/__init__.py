"""The command line: a few lines over the library for each command."""

import inspect
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow
import typer
from typer.core import TyperCommand, TyperGroup

from ..addresses import without_passwords
from ..errors import LittleLearned, VeilError
from ..kernel import VERSION
from ..wording import NO_MEMORY
from . import (
    audit,
    compare,
    demo,
    evaluate,
    explore,
    ledger,
    methods,
    plan,
    predict,
    publish,
    query,
    schema,
    select,
    train,
)
from .output import Stopped, echo

app = typer.Typer(
    name="veil",
    help="Publish from a private table under one differential-privacy budget.",
    epilog="Example: veil demo. For your own table, begin with: veil schema new DATA.csv. "
    "Exit codes: 0 success, 2 bad input, 3 the budget refuses, 1 anything else.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(schema.app, name="schema")
app.add_typer(ledger.app, name="ledger")
app.command(epilog="Example: veil train survey.csv --schema survey.toml --epsilon 1 --out model.veil")(train.train)
app.command(epilog="Example: veil plan --schema survey.toml --rows 20000 --epsilon 0.5")(plan.plan)
app.command(epilog="Example: veil methods --json")(methods.methods)
app.command(epilog="Example: veil predict model.veil new.csv --out predictions.csv")(predict.predict)
app.command(
    epilog="Example: veil evaluate model.veil test.csv --schema survey.toml --epsilon 0.2 --ledger survey.ledger"
)(evaluate.evaluate)
app.command(
    epilog="Example: veil publish survey.csv --schema survey.toml --epsilon 1 --out table.veil --synthetic rows.csv. "
    "A map, without a label: veil publish places.csv --schema places.toml --columns longitude,latitude --epsilon 0.5 "
    "--out map.veil"
)(publish.publish)
app.command(epilog="Example: veil query map.veil --where 'age in 30..50' --where 'sex = Female'")(query.query)
app.command(epilog="Example: veil select survey.csv --schema survey.toml --epsilon 1 --score gini --k 5")(select.select)
app.command(epilog="Example: veil compare --data fair --seeds 5 --out results.parquet")(compare.compare)
app.command(epilog="Example: veil explore --schema survey.toml --ledger survey.ledger --watch .")(explore.explore)
app.command(epilog="Example: veil audit --only count")(audit.audit)
app.command(epilog="Example: veil demo --epsilon 0.5")(demo.demo)
STOPPED = 128 + signal.SIGINT, 128 + signal.SIGTERM


@contextmanager
def _discreet() -> Iterator[None]:
    """Leave passwords out of complaints about the words of a command, which repeat these."""
    try:
        yield
    except Exception as error:
        problem: Any = error
        if hasattr(problem, "format_message"):
            said = without_passwords(problem.format_message(), sys.argv)
            problem.format_message = lambda: said
        raise


class Plain:
    """A command whose help shows no type after a flag, since flags take no value, and whose complaints show no
    password."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _discreet():
            return super().make_context(*given, **more)  # type: ignore[misc]  # of the command it is mixed into

    def invoke(self, ctx: Any) -> Any:
        with _discreet():
            return super().invoke(ctx)  # type: ignore[misc]

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the command it is mixed into
        for flag in (param for param in found if getattr(param, "is_flag", False)):
            flag.metavar = ""
        return found


class Command(Plain, TyperCommand):
    """A command."""


class Group(Plain, TyperGroup):
    """A group of commands."""


for room in (app, schema.app, ledger.app):
    room.info.cls = Group
    for one in room.registered_commands:
        one.cls = Command
        told = (one.callback and inspect.getdoc(one.callback)) or ""
        one.help = "\n\n".join(" ".join(part.split("\n")) for part in told.split("\n\n"))  # each window wraps it anew


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"veil {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    warnings.filterwarnings("ignore", category=LittleLearned)  # commands print the verdict


def main(app: typer.Typer = app) -> None:
    """Run a command; exit with 0, 2 for bad input, 3 when the budget refuses, 1 for anything else."""
    before = signal.signal(signal.SIGTERM, _end)
    with suppress(NotImplementedError):  # on Windows; it keeps tens of MB less for later than the usual one
        pyarrow.set_memory_pool(pyarrow.jemalloc_memory_pool())
    try:
        app()
    except Stopped:
        raise
    except SystemExit as end:
        if end.code in STOPPED:
            echo("veil: stopped", err=True)
        raise
    except VeilError as error:
        echo(f"veil: {without_passwords(str(error), sys.argv)}", err=True)
        sys.exit(error.exit_code)
    except MemoryError:
        if os.environ.get("VEIL_DEBUG"):
            raise
        echo(f"veil: {NO_MEMORY}", err=True)
        sys.exit(1)
    except Exception as error:
        if os.environ.get("VEIL_DEBUG"):
            raise
        # the message of an unforeseen error may quote a value
        echo(f"veil: stopped by an unforeseen {type(error).__name__}; VEIL_DEBUG=1 shows where", err=True)
        sys.exit(1)
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(*_: Any) -> None:
    """Treat SIGTERM like an interrupt, so that drafts of files are removed."""
    sys.exit(STOPPED[1])
