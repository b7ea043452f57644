"""Other packages, each in an environment of its own: rows go out as files, probabilities come back as files.

What goes out is what the schema makes public, and the rows. `request.json` holds the method, epsilon, delta, the seed,
how often to fit, the number of classes and the columns with their values or bounds; `rows.npz` holds every column of
the training rows (`train0`, ...), of the test rows (`test0`, ...) and the class codes of the training rows (`labels`).
Back come `probabilities.npy`, test rows x classes, and `reply.json` with the seconds of a fit (of several the shortest)
and the peak memory, or a reason why there is none.

A peer is run as its documentation has it, and once more as `NAME-tuned` with the encoding and settings that did best on
the test rows of the Adult census: more than an honest user could know, so that no peer is held back.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from veil.compare.data import Split
from veil.compare.methods import OTHERS, Impossible, Method
from veil.errors import BadInput
from veil.schema import Categorical

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Peer:
    """Where a peer lives, `run_HOME.py` in the environment `.venv/HOME`, and the delta that it needs."""

    home: str
    delta: float = 0.0


KINDS = ("naive-bayes", "logistic-regression", "tree", "forest")
PEERS = {
    **{f"diffprivlib-{kind}{tuned}": Peer("diffprivlib") for tuned in ("", "-tuned") for kind in KINDS},
    **{f"dp-ebm{tuned}": Peer("interpret", delta=1e-6) for tuned in ("", "-tuned")},
}


def method(name: str) -> Method:
    """A peer as a method to be compared; complains if its environment was not built."""
    folder = Path(os.environ.get("VEIL_PEERS") or Path(__file__).parent).resolve()
    home = PEERS[name].home
    command = (str(folder / ".venv" / home / "bin" / "python"), str(folder / f"run_{home}.py"))
    if not all(Path(part).exists() for part in command):
        raise BadInput(f"the environment of {name!r} is missing: run `make peers` in a checkout of Veil")
    return Method(name, partial(ask, name, command), delta=PEERS[name].delta)


def ask(name: str, command: tuple[str, ...], split: Split, epsilon: float, seed: int, fits: int = 1) -> Any:
    """The probabilities, seconds and peak memory (MB) that a peer answers with, after so many fits in a row."""
    with TemporaryDirectory(prefix="veil-") as folder:
        public = {"method": name, "epsilon": epsilon, "delta": PEERS[name].delta, "seed": seed, "fits": fits}
        _write(Path(folder), split, public)
        environment = {**os.environ, **ONE_THREAD}
        done = subprocess.run([*command, folder], capture_output=True, text=True, env=environment, errors="replace")
        reply = Path(folder, "reply.json")
        if done.returncode or not reply.exists():
            raise Impossible((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
        answer = json.loads(reply.read_text(encoding="utf-8"))
        if "reason" in answer:
            raise Impossible(answer["reason"])
        probabilities = np.load(Path(folder, "probabilities.npy"), allow_pickle=False)
    return probabilities, answer["seconds"], answer["peak_memory"]


def _write(folder: Path, split: Split, public: dict[str, Any]) -> None:
    columns = split.schema.features
    described = [
        {"name": c.name, **({"values": c.values} if isinstance(c, Categorical) else {"bounds": c.bounds})}
        for c in columns
    ]
    request = {**public, "classes": len(split.schema.classes), "columns": described}
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    sides = {"train": split.train, "test": split.test}
    rows = {f"{side}{i}": _array(c, frame[c.name]) for side, frame in sides.items() for i, c in enumerate(columns)}
    labels = split.schema.get(str(split.schema.label)).encode(split.labels)
    np.savez(folder / "rows.npz", labels=labels, **rows)


def _array(column: Any, values: Any) -> npt.NDArray[Any]:
    """A column as NumPy stores it without pickling; a missing number is the lower bound, for want of a better one."""
    if isinstance(column, Categorical):
        return np.array(values, dtype=np.str_)
    return np.nan_to_num(np.asarray(values, np.float64), nan=column.bounds[0])


OTHERS.update(dict.fromkeys(PEERS, method))
