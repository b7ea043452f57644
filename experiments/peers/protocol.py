"""What every peer does: read a request and rows, fit against the clock, and write probabilities and what it took.

`src/veil/compare/peers.py` says what the files hold. Nothing but NumPy is needed.
"""

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def serve(fit):
    """Answer the request in the folder that the command line names.

    `fit` gets the request, the training columns and the class codes, and gives a model and a function that turns
    columns into what the model predicts from.
    """
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    try:
        reply = _answer(folder, fit)
    except Exception as error:  # what a peer cannot do is a result too
        reply = {"reason": f"{type(error).__name__}: {error}"}
    (folder / "reply.json").write_text(json.dumps(reply), encoding="utf-8")


def _answer(folder, fit):
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    rows = np.load(folder / "rows.npz", allow_pickle=False)
    train, test = ([_held(rows[f"{side}{i}"]) for i in range(len(request["columns"]))] for side in ("train", "test"))
    labels = rows["labels"]
    seconds = []
    for _ in range(request["fits"]):
        start = time.perf_counter()
        model, prepare = fit(request, train, labels)
        seconds.append(time.perf_counter() - start)
    memory = peak_memory()
    probabilities = np.zeros((len(test[0]), request["classes"]))
    probabilities[:, np.asarray(model.classes_, int)] = model.predict_proba(prepare(test))
    np.save(folder / "probabilities.npy", probabilities)
    return {"seconds": min(seconds), "peak_memory": memory}


def _held(column):
    """A column as a data frame holds it: text as Python's own, which encoders take as it is."""
    return column.astype(object) if column.dtype.kind == "U" else column


def peak_memory():
    """The most MB that this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # what `resource` tells there includes what the starting process held
        return int(status.read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
