"""Commands run in this process."""

from typing import Any

from typer.testing import CliRunner

from veil.cli import app


def run(*arguments: Any) -> Any:
    """Run a command in this process; what it raises is raised here."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def output(*arguments: Any) -> str:
    """What a command prints when it succeeds."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return str(result.output)
