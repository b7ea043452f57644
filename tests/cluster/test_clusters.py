"""Rows from Spark are the same codes as in memory, whatever befalls its tasks and processes: on this machine, with two
executors, a master with two workers, and Spark Connect. Each cluster is started once; all are on loopback."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import pytest

from experiments.spark import connect, missing, standalone, surroundings
from veil import load_model, wording
from veil.models import METHODS

ROOT = Path(__file__).parents[2]
SAME = ["same_answers", "same_codes", "same_from_a_path"]
TWICE, BROKEN = [wording.SPARK_TWICE, False], [wording.SPARK_BROKEN, False]
EXPECTED = {
    "same_answers": [True, 31],
    "same_codes": True,
    "same_from_a_path": [True, True],
    "further_verbs": True,
    "models": True,
    "judged": [True, "Spark"],
    "awkward_names": True,
    "times_and_people": [True] * 5,
    **dict.fromkeys(("first_attempts_raise", "workers_exit", "executor_killed"), [True, True, True]),
    "a_twin_counts_twice": TWICE,
    "a_twin_drops_a_retry": TWICE,
    "other_versions": [wording.SPARK_OTHERS, False],
    "no_value_is_told": [*BROKEN, "0"],
    "missing_column": ["the rows have no column 'town': check the names against the schema", False],
    "drawn_at_random": [wording.SPARK_CHANCE, False],
    "gone": [*BROKEN, True],
}
PLACES = {
    "local": (lambda: nullcontext("local[2,4]"), [name for name in EXPECTED if name != "executor_killed"]),
    "two executors": (lambda: nullcontext("local-cluster[2,1,1024]"), ["same_codes", "executor_killed"]),
    "standalone": (standalone, [*SAME, "workers_exit"]),
    "connect": (
        connect,
        [
            *SAME,
            "models",
            "judged",
            "awkward_names",
            "times_and_people",
            "first_attempts_raise",
            "no_value_is_told",
            "gone",
        ],
    ),
}
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@contextmanager
def ended(command):
    """What a command prints; it and all that it started are ended afterwards."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen(command, cwd=ROOT, env=surroundings(), **quiet)
    try:
        yield process.communicate(timeout=280)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the checks found at a place, from one run of them."""
    kept = {}

    def at(place):
        if place not in kept:
            start, names = PLACES[place]
            folder = tmp_path_factory.mktemp("spark")
            with ExitStack() as running:
                address = running.enter_context(start())
                told, said = running.enter_context(
                    ended([sys.executable, "-m", "tests.cluster.driver", address, str(folder), *names])
                )
            kept[place] = {name: value for name, value, _ in map(json.loads, told.splitlines())} | {
                "said": said[-3000:]
            }
        return kept[place]

    return at


@pytest.mark.parametrize(("place", "name"), [(place, name) for place, (_, names) in PLACES.items() for name in names])
def test_what_spark_brings_is_what_memory_holds_or_refused(place, name, found):
    checks = found(place)
    assert name in checks, checks["said"]
    assert checks[name] == EXPECTED[name]


def test_the_command_line_trains_and_measures_the_same_model_from_spark(tmp_path):
    from tests.kernel.test_streams import PLAIN, parquet_folder

    path = parquet_folder(tmp_path)
    (tmp_path / "s.toml").write_text(PLAIN.to_toml())
    given = ["--schema", tmp_path / "s.toml", "--epsilon", "1", "--method", "naive-bayes", "--seed", "3"]
    main = [sys.executable, "-c", "from veil.cli import main; main()"]
    models, measured = [], []
    for place in (str(path), f"spark:{path}"):
        out = tmp_path / f"{len(models)}.veil"
        with ended([*map(str, [*main, "train", place, *given, "--out", out])]) as (_, said):
            assert out.exists(), said
        models.append(load_model(out))
        page = tmp_path / f"judged-{len(models)}.html"  # beside 0.html and 1.html, the reports of the models
        judging = ["evaluate", tmp_path / "0.veil", place, *given[:4], "--seed", "5", "--out", page, "--json"]
        with ended([*map(str, [*main, *judging])]) as (_, said):
            assert page.exists(), said
        measured.append(page.read_text().count("Spark"))
    values = [[str(release.value) for release in model.releases_] for model in models]
    assert values[0] == values[1] and isinstance(models[0], METHODS["naive-bayes"])
    assert {receipt.engine for receipt in models[1].outcome_.receipts} == {"Spark"}
    assert measured[0] == 0 < measured[1]
