"""InterpretML's differentially private boosting, given everything that the schema makes public.

The default learning rate stops far from the optimum; "dp-ebm-tuned" goes five times as fast.
"""

import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier
from protocol import serve


def fit(request, train, labels):
    """A model, and the frame that it takes rows as."""
    if request["classes"] > 2:
        raise ValueError("the private boosting of InterpretML takes two classes only")
    columns = request["columns"]
    names = [column["name"] for column in columns]

    def prepare(rows):
        return pd.DataFrame(dict(zip(names, rows, strict=True)))

    model = DPExplainableBoostingClassifier(
        feature_names=names,
        feature_types=["nominal" if "values" in column else "continuous" for column in columns],
        privacy_bounds={column["name"]: column["bounds"] for column in columns if "bounds" in column},
        learning_rate=0.05 if request["method"].endswith("-tuned") else 0.01,
        epsilon=request["epsilon"],
        delta=request["delta"],
        random_state=request["seed"],
        n_jobs=1,
    )
    return model.fit(prepare(train), labels), prepare


serve(fit)
