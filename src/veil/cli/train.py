"""veil train: a private model from a file of rows. scikit-learn and matplotlib load only when they are needed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import BadInput
from ..kernel.budget import Budget
from ..kernel.ledger import Ledger
from ..plans.catalogue import NAMES, presets
from ..schema import Schema
from . import charge
from .output import Json, check_paths, console, print_json

LEARN = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
PRESETS = "; ".join(f"{name}: {', '.join(presets(name))}" for name in NAMES if presets(name))


def train(
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[str, typer.Option(help="What the model may cost, such as 1 or 1/2.")],
    out: Annotated[Path | None, typer.Option(help="Where to write the model, such as model.veil.")] = None,
    method: Annotated[str, typer.Option(help=f"How to learn: {LEARN}. See veil methods.")] = "naive-bayes",
    preset: Annotated[str | None, typer.Option(help=f"A paper's way to grow trees. Of {PRESETS}.")] = None,
    ledger: charge.Account = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the model is then NOT private.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the report; beside the model if absent.")] = None,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Train a private model, and write it with a report of what was asked and what it cost."""
    public, model = Schema.read(schema), _model(method, preset, epsilon, seed)
    model.schema = public
    charge.check_names(data, public)
    account = Ledger.open(ledger) if ledger else None
    if dry_run:
        charge.show_plan(model.rehearse(), public, model.epsilon, account, as_json)
        return
    if out is None:
        raise BadInput("say where to write the model, such as --out model.veil")
    page = report or out.with_suffix(".html")
    check_paths(out, page, data, schema, ledger=ledger)
    if account:
        charge.check_budget(account, Budget(epsilon))
    model.ledger = account or Ledger(Budget(epsilon), public.name)
    charge.run_and_write(data, model.fit, out, _write, {page: charge.report_writer(model.ledger)}, force)
    if as_json:
        print_json({"model": str(out), "report": str(page), **charge.facts(model, model.ledger)})
        return
    charge.say(model, "model", out, page, model.ledger, account is not None)
    console.print(f"Next: veil predict {out} DATA --out predictions.csv", markup=False)


def _model(method: str, preset: str | None, epsilon: str, seed: int | None) -> Any:
    from ..models import METHODS

    if method not in METHODS:
        raise BadInput(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    model = METHODS[method](epsilon=Budget(epsilon).epsilon, random_state=seed)
    if preset is None:
        return model
    if "preset" not in model.get_params():
        raise BadInput(f"method {method!r} has no presets: leave out --preset")
    return model.set_params(preset=preset)


def _write(draft: Path, model: Any) -> None:
    from ..models.files import write_model

    write_model(draft, model)
