"""veil demo: a private classifier of a real survey, from the rows to the report."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..display import column_rows
from ..files.tables import new_file
from ..kernel import Budget, Ledger
from .charge import SEEDED, say_verdict, show_plan
from .output import console, show_table, steps

PAGE = Path("veil-demo.html")
OTHERS = {"ceiling": "gradient boosting, NOT private", "majority": "always the larger class"}


def demo(
    epsilon: Annotated[str, typer.Option(help="What the model may cost.")] = "1",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeatable noise, for tests: the model is then NOT private.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the report.")] = PAGE,
) -> None:
    """Train a private classifier on a real survey: who had an affair? Then show how good it is and what it cost."""
    from ..compare.data import load, split  # these take longer to load than the other commands to run
    from ..evaluate import private_roc_curve
    from ..models import NaiveBayesClassifier
    from ..report import report

    data = load("fair")
    ledger = Ledger(Budget(epsilon), data.schema.name)
    model = NaiveBayesClassifier(epsilon=epsilon, schema=data.schema, ledger=ledger, random_state=seed)
    show_table("What is public: the schema", ["column", "kind", "codes", "of"], column_rows(data.schema))
    show_plan(model.rehearse(), data.schema, ledger)
    with (
        steps("training", "the same without privacy", "writing the report") as step,
        new_file(out, force=out == PAGE) as draft,
    ):
        parts = split(data, 0)
        model.fit(parts.train, parts.labels)
        step()
        quality = _quality(parts, model, f"private naive Bayes, epsilon {epsilon}")
        truth = np.array(data.schema.classes)[parts.truth]
        step()
        public = parts.test, [*truth]
        draft.write_text(
            report(model, left=ledger.left, limit=ledger.limit, quality=quality, check=public), encoding="utf-8"
        )
        step()
        apart = Ledger(Budget(epsilon), data.schema.name)  # the held-out rows are others: a budget of their own
        curve = private_roc_curve(model, parts.test, truth, epsilon=epsilon, ledger=apart, random_state=seed)
        drawing = out.with_name(f"{out.stem}-roc.svg")
        with new_file(drawing, force=out == PAGE) as picture:
            draw_beside(curve, truth, model.predict_proba(parts.test)[:, 1], picture)
    if seed is not None:
        console.print(SEEDED.format(what="model"), style="bold red")
    say_verdict(model.verdict_)
    table = [(name, f"{accuracy:.3f}", f"{auc:.3f}") for name, accuracy, auc in quality]
    show_table("On rows held out of training", ["model", "accuracy", "AUC"], table)
    console.print(f"{ledger}\n", markup=False)
    console.print(f"The same held-out rows, asked privately: {curve.summary()}.", markup=False)
    console.print(f"Drawn beside the exact curve, since this survey is public: {drawing.resolve()}", soft_wrap=True)
    console.print(f"What was asked, released and promised, with plots: {out.resolve()}", markup=False, soft_wrap=True)
    console.print("\nNext: veil schema new DATA.csv, which starts the schema of a table of yours.", markup=False)


def _quality(parts: Any, model: Any, name: str) -> list[tuple[str, float, float]]:
    """Name, accuracy and AUC on the test rows, which are public here: of the model, and of what is not private."""
    from ..compare.measures import measures
    from ..compare.methods import find

    odds = {name: model.predict_proba(parts.test)}
    odds |= {other: find(method).run(parts, 1.0, 0)[0] for method, other in OTHERS.items()}
    found = {one: measures(parts.truth, rows) for one, rows in odds.items()}
    return [(one, measured["accuracy"], measured["auc"]) for one, measured in found.items()]


def draw_beside(curve: Any, truth: Any, scores: Any, path: Path) -> None:
    """Draw the private curve beside the exact one, which only public rows may have."""
    from matplotlib.figure import Figure
    from sklearn.metrics import roc_curve

    from ..evaluate import PrivateRocDisplay

    figure = Figure(figsize=(5.5, 5.5), layout="constrained")
    ax = figure.subplots()
    PrivateRocDisplay(curve, name="private").plot(ax=ax, plot_chance_level=True)
    positive = np.array([str(label) == curve.positive for label in truth])
    rates = roc_curve(positive, np.asarray(scores))[:2]
    ax.plot(*rates, color="black", linewidth=0.8, label="exact: these rows are public")
    ax.legend(loc="lower right")
    figure.savefig(path, format="svg")
