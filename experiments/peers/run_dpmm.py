"""dpmm's MST and PrivBayes: synthetic rows from the rows and the public domain that a folder holds.

The folder has request.json (method, epsilon, delta, rows, seed, domain) and train.csv; synthetic.csv and reply.json are
written into it. Numbers are cut into equal
bins: with those that the package finds by default, MST on Adult gave no answer in 15 minutes on a busy machine.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
from dpmm.pipelines import MSTPipeline, PrivBayesPipeline

BINS = {"binner_type": "uniform", "n_bins": 16}  # equal bins between public bounds, which cost nothing
KINDS = {"mst": MSTPipeline, "privbayes": PrivBayesPipeline}


def main(folder):
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    domain = request["domain"]
    texts = {name: str for name, one in domain.items() if "categories" in one}
    train = pd.read_csv(folder / "train.csv", dtype=texts, keep_default_na=False)
    for name in texts:
        train[name] = pd.Categorical(train[name], categories=domain[name]["categories"])
    start = time.perf_counter()
    model = KINDS[request["method"]](epsilon=request["epsilon"], delta=request["delta"], **BINS, n_jobs=1)
    model.fit(train, domain, random_state=request["seed"])
    made = model.generate(n_records=request["rows"], random_state=request["seed"])
    seconds = time.perf_counter() - start
    made.to_csv(folder / "synthetic.csv", index=False)
    (folder / "reply.json").write_text(json.dumps({"seconds": seconds}), encoding="utf-8")


warnings.simplefilter("ignore")
main(Path(sys.argv[1]))
