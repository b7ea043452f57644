"""veil train: a private model from a file of rows. scikit-learn and matplotlib load only when they are needed."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import BadInput
from ..kernel import Budget
from ..plans.catalogue import NAMES, presets
from ..schema import Schema
from . import charge
from .evaluate import link, numbers
from .output import Encoding, Json, Multiline, check_paths, console, print_json

LEARN = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
PRESETS = "; ".join(f"{name}: {', '.join(presets(name))}" for name in NAMES if presets(name))

TRAINED = (
    "The model was trained on a part of the rows. The others, a share of {} drawn at random, were kept to measure it."
)
JUDGED = "The rows are a share of {} of a table, drawn at random. The model was trained on the others."


def train(
    data: charge.Data,
    schema: charge.Public,
    epsilon: Annotated[
        str,
        typer.Option(help="What the model may cost, such as 1 or 1/2: the less, the more noise and the more privacy."),
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write the model, such as model.veil.")] = None,
    method: Annotated[str, typer.Option(help=f"How to learn: {LEARN}. See veil methods.")] = "auto",
    preset: Annotated[str | None, typer.Option(help=f"A paper's way to grow trees. Of {PRESETS}.")] = None,
    ledger: charge.LedgerFile = None,
    note: charge.Note = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Repeatable noise: the model is then NOT private.")] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the report; beside the model if absent.")] = None,
    test_share: Annotated[
        str | None, typer.Option(help="Keep this share of the rows, such as 0.3, to measure the model on.")
    ] = None,
    test_epsilon: Annotated[
        str | None, typer.Option(help="What measuring may cost; as much as the model if absent.")
    ] = None,
    encoding: Encoding = "utf-8",
    multiline: Multiline = False,
    dry_run: charge.DryRun = False,
    force: charge.Force = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Train a private model, and write it with a report of what was asked and what it cost.

    Without --method, the one is chosen that is expected to be the best; veil plan shows what to expect of all.

    With --test-share the model is also measured, on rows that it was not trained on: a ROC curve, in a report of its
    own. The two parts of the rows are disjoint, so both together cost what the dearer one costs.
    """
    public, model = Schema.read(schema), _model(method, preset, epsilon, seed)
    model.schema = public
    rows_file = charge.file_of(data, encoding, multiline, public)
    shared = charge.open_ledger(ledger, note, out)
    if test_epsilon is not None and test_share is None:
        raise BadInput("--test-epsilon needs --test-share, the share of rows to measure the model on")
    run = Training(model, test_share, test_epsilon or epsilon)
    if dry_run:
        rehearsed = run.rehearse()
        quality = _expected(method, public, epsilon) if rehearsed.trace is None else _expected_of(rehearsed.trace)
        charge.show_plan(rehearsed, public, shared, as_json, quality=quality)
        return
    if out is None:
        raise BadInput("say where to write the model, such as --out model.veil")
    page = report or out.with_suffix(".html")
    judged = out.with_name(f"{out.stem}-evaluation.html") if test_share else None
    check_paths(out, page, judged, data, schema, ledger)
    cost = max(Budget(epsilon), Budget(test_epsilon or epsilon))
    charge.check_disk(public, ledger, out, page, judged)
    model.ledger = shared or charge.own_ledger(cost, public, note, out)
    kept_apart = {"how good it is on the rows kept apart": link(judged, page)} if judged else {}
    told = TRAINED.format(test_share) if judged else ""
    others: dict[Path, charge.Writer] = {page: charge.report_writer(model.ledger, told, kept_apart)}
    if judged:
        others[judged] = partial(run.write, links={f"how {out.name} was made": link(page, judged)})
    with charge.saying_charges(shared, cost):
        charge.run_and_write(rows_file, run.fit, out, _write, others, force, as_json)
    found = run.curve
    if as_json:
        judgement: dict[str, Any] = {"evaluation": {"report": str(judged), **numbers(found)}} if found else {}
        chosen = {"trace": model.outcome_.trace} if model.outcome_.trace else {}
        print_json({"model": str(out), "report": str(page), **charge.facts(model, model.ledger), **chosen, **judgement})
        return
    charge.say(model, "model", out, page, model.ledger, shared is not None, found.receipts_ if found else ())
    if found:
        console.print(f"On the rows kept apart, in {judged}: {found.summary()}.", markup=False, soft_wrap=True)
        charge.say_verdict(found.verdict_)
    if model.outcome_.trace:
        _say_choice(model, measured=found is not None)
    if not model.verdict_.bad:
        console.print(f"Next: veil predict {out} DATA --out predictions.csv", markup=False)


class Training:
    """A fit and, if rows are set apart for testing, the ROC curve on them."""

    def __init__(self, model: Any, share: str | None, epsilon: str) -> None:
        self.model, self.share, self.epsilon = model, share, epsilon
        self.curve: Any = None

    def rehearse(self) -> Any:
        """The answers that the fit, and the curve if there is to be one, would ask for."""
        if self.share is None:
            return self.model.rehearse()
        from ..evaluate import rehearse_both

        return rehearse_both(self.model, share=self.share, epsilon=self.epsilon)

    def fit(self, rows: Any) -> Any:
        """The fitted model."""
        if self.share is None:
            return self.model.fit(rows)
        from ..evaluate import fit_and_evaluate

        apart = {"share": self.share, "epsilon": self.epsilon, "ledger": self.model.ledger}
        self.curve = fit_and_evaluate(self.model, rows, **apart)
        return self.model

    def write(self, draft: Path, made: Any, links: dict[str, str]) -> None:
        """Write the report of the curve."""
        charge.report_writer(self.model.ledger, JUDGED.format(self.share), links)(draft, self.curve)


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


def _expected(method: str, schema: Schema, epsilon: str) -> list[Any]:
    """What to expect of a method; [] if nothing is known of it."""
    from ..choice.classifiers import expect

    if len(schema.classes) < 2 or not schema.features:
        return []
    found = expect(schema, charge.declared_rows(schema), charge.predictable(Budget(epsilon)))
    return [one for one in found.predictions if one.option == method]


def _expected_of(trace: Any) -> list[Any]:
    """What to expect of the method that a rehearsal chose."""
    from ..choice import Trace

    rehearsed = Trace.from_dict(trace)
    return [one for one in rehearsed.predictions if one.option == rehearsed.chosen]


def _say_choice(model: Any, measured: bool) -> None:
    """Print what was chosen and why, and what to expect of it unless that is known better."""
    for line in model.trace_.in_words()[: 1 if measured or model.verdict_.bad else None]:
        console.print(line, markup=False, soft_wrap=True)
    for name, reason in (model.trace_.left_out or {}).items():
        console.print(f"Left out: {name}: {reason}.", markup=False, soft_wrap=True)


def _write(draft: Path, model: Any) -> None:
    from ..models.files import write_model

    write_model(draft, model.outcome_)
