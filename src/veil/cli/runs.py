"""What veil train runs: a fit, with a ROC curve on rows set apart if one is asked for, or a fit until a goal is met."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from ..display import amount
from ..errors import BadInput
from ..kernel import Budget
from ..plans.run import guessed_rows
from ..plans.until import SHARE, in_words, levels_of
from . import charge

JUDGED = "The rows are a share of {} of a table, drawn at random. The model was trained on the others."


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

    def before(self) -> list[str]:
        """What to say before it starts, the first line in any case and the others with the plan."""
        return []

    def after(self) -> list[str]:
        """What to say of the fitted model."""
        return []

    def plan(self) -> dict[str, Any]:
        """What belongs to the plan besides the answers, for JSON."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What belongs to the fitted model besides its cost, for JSON."""
        return {"trace": self.model.outcome_.trace} if self.model.outcome_.trace else {}


class Walking(Training):
    """A fit that stops at the least epsilon at which a goal is met on rows set apart."""

    def __init__(self, model: Any, goal: str, share: str | None, at_most: str) -> None:
        super().__init__(model, share or SHARE, at_most)
        self.goal, self.at_most = model.aim(goal, model.schema), Budget(at_most)

    def rehearse(self) -> Any:
        """The answers of the last level."""
        return self.model.rehearse_until(goal=self.goal, at_most=self.at_most, share=self.share)

    def fit(self, rows: Any) -> Any:
        return self.model.fit_until(rows, goal=self.goal, at_most=self.at_most, share=self.share)

    def before(self) -> list[str]:
        levels = [amount(level.epsilon) for level in levels_of(self.at_most)]
        return [
            f"This charges all of epsilon {amount(self.at_most.epsilon)} before it starts, and nothing of it comes "
            f"back, whether or not {self.goal} is reached.",
            f"The {self.model.method} model is made at epsilon {', '.join(levels)}, of which the plan shows the last, "
            f"and stops at the first that passes a test on a share of {self.share} of the rows, for epsilon "
            f"{levels[0]} in all.",
            self._slack(),
        ]

    def _slack(self) -> str:
        """How far from the goal the noise of the test may let a model stop, if no class is larger than the others."""
        schema, auc = self.model.schema, self.goal.measure == "auc"
        rows = guessed_rows(schema)
        tested = rows * float(Fraction(self.share or SHARE)) / (len(schema.classes) if auc else 1)
        off = self.goal.slack(float(levels_of(self.at_most)[0].per_row(schema.rows_per_person))) / tested
        said = f"{min(off, 1):.2f} in {'AUC' if auc else 'accuracy'} with {rows:,} rows{' of even classes' * auc}"
        return f"The noise of that test may pass a model that misses the goal by {said} (95 %)."

    def after(self) -> list[str]:
        return in_words(self.model.outcome_)

    def plan(self) -> dict[str, Any]:
        levels = [str(level.epsilon) for level in levels_of(self.at_most)]
        return {"goal": str(self.goal), "at_most": str(self.at_most.epsilon), "levels": levels, "test": levels[0]}

    def facts(self) -> dict[str, Any]:
        return {"until": {**self.model.outcome_.until, "ex_post": str(self.model.outcome_.ex_post)}}


def cost_of(epsilon: str | None, goal: str | None, at_most: str | None, test: str | None) -> str:
    """What a run may cost at most; refuses options that do not go together."""
    if (goal is None) != (at_most is None):
        raise BadInput("--goal and --at-most go together: what is to be reached, and what it may cost")
    if goal is not None and (epsilon is not None or test is not None):
        raise BadInput("with --goal, leave out --epsilon and --test-epsilon: --at-most is what all of it costs")
    if (cost := epsilon or at_most) is None:
        raise BadInput("say what the model may cost, such as --epsilon 1")
    return cost
