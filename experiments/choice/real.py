"""python -m experiments.choice.real SPLITS: the real `AutoClassifier` on the judged tables, to check what is judged.

Regret is computed from runs of each method alone, with all of epsilon; a real choice pays for its count of the classes,
and for a check of its weights. Here it is fitted itself, on the same splits, with traces that have nothing of the
table's family. PrivPfC has at most MOST_CANDIDATES candidates, as in those runs. Results go to choice-auto.parquet in
experiments/results; runs that it holds are not repeated. Noise is seeded.
"""

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd

from veil.choice.classifiers import SETTINGS
from veil.choice.nearby import Nearby
from veil.compare.data import split
from veil.compare.measures import measures
from veil.models import AutoClassifier, auto
from veil.plans.histograms import privpfc

from .. import RESULTS
from .collect import EPSILONS, FIRST, KEY, MOST_CANDIDATES
from .databases import FAMILY, TABLES, table
from .ship import shipped

FILE = RESULTS / "choice-auto.parquet"


def run(name: str, epsilon: float, seed: int) -> dict[str, Any]:
    """What was chosen for one split of a table, and how good it is on the rows that were held out."""
    parts = split(table(name), seed)
    model = AutoClassifier(epsilon=epsilon, schema=parts.schema, random_state=seed).fit(parts.train, parts.labels)
    order = [[*map(str, model.classes_)].index(label) for label in parts.schema.classes]
    found = measures(parts.truth, model.predict_proba(parts.test)[:, order])
    same = {"database": name, "epsilon": epsilon, "seed": seed, "chosen": model.chosen_}
    return {**same, **{measure: float(np.float32(found[measure])) for measure in ("auc", "accuracy")}}


def main(splits: int) -> None:
    """Do the runs that are missing, split by split, and keep each split of a table."""
    privpfc.POOL = (privpfc.POOL[0], MOST_CANDIDATES)
    traces = shipped()
    rows = pd.read_parquet(FILE).to_dict("records") if FILE.exists() else []
    done = {tuple(row[name] for name in KEY) for row in rows}
    for seed in range(FIRST, FIRST + splits):
        for name in TABLES:
            others = Nearby(traces.without(FAMILY[name]), **SETTINGS)
            auto.known = lambda others=others: others  # type: ignore[attr-defined]
            rows += [run(name, epsilon, seed) for epsilon in EPSILONS if (name, epsilon, seed) not in done]
            pd.DataFrame(rows).to_parquet(FILE)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]))
