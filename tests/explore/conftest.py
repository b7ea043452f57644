"""A page over a small table: its schema, a ledger, what was published, and results of a comparison."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from tests.shell import output
from veil import Schema, datasets
from veil.explore.app import application
from veil.explore.given import Given
from veil.explore.guard import Secrets
from veil.results import COLUMNS, MEASURED

PORT = 8124
HOST = f"127.0.0.1:{PORT}"
METHODS = {"logistic": 0.9, "tree": 0.8, "naive-bayes": 0.895, "theirs": 0.7}


def made_up_results(path: Path, sizes: tuple[int | None, ...] = (None, 1000)) -> Path:
    """Made-up results of two tables: private methods, one with delta, one that is not private, one that failed."""
    chance, rows = np.random.default_rng(1), list[dict[str, Any]]()
    for data in ("one", "two"):
        for size in sizes:
            for method, level in METHODS.items():
                for epsilon in (0.1, 1.0):
                    for seed in range(4):
                        failed = method == "theirs" and data == "two"
                        value = level + 0.05 * epsilon + 0.01 * chance.random()
                        numbers = {name: None if failed else float(value) for name in MEASURED}
                        state = {"status": "failed", "reason": "only two classes"} if failed else {"status": "done"}
                        about = {"data": data, "method": method, "epsilon": epsilon, "seed": seed, "private": True}
                        more = {"delta": 1e-6 if method == "theirs" else 0.0, "rows": size, "version": "veil 0.2.0"}
                        rows.append({**about, **numbers, **state, **more, "date": "2026-11-02"})
            ceiling = {"data": data, "method": "ceiling", "epsilon": float("inf"), "seed": 0, "private": False}
            rows.append({**ceiling, **dict.fromkeys(MEASURED, 0.97), "status": "done", "rows": size, "delta": 0.0})
    pq.write_table(pa.Table.from_pylist(rows, COLUMNS), path)
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as an owner has it: rows, a schema, a ledger, and what was published."""
    place = tmp_path_factory.mktemp("clinic")
    rows, schema = datasets.load("fair")
    rows.sample(2000, random_state=1).to_csv(place / "DATA.csv", index=False)
    private = schema.model_copy(update={"public": False, "name": "clinic", "rows": 2000})
    (place / "clinic.toml").write_text(private.to_toml(), encoding="utf-8")
    output("ledger", "create", place / "clinic.ledger", "--limit", "4", "--name", "clinic")
    (place / "out").mkdir()
    asked = ["--schema", place / "clinic.toml", "--ledger", place / "clinic.ledger", "--epsilon", "0.5"]
    output(
        "train",
        place / "DATA.csv",
        *asked,
        "--note",
        "model v1",
        "--test-share",
        "0.3",
        "--out",
        place / "out/model.veil",
    )
    output("train", place / "DATA.csv", *asked, "--method", "tree", "--out", place / "out/tree.veil")
    output("publish", place / "DATA.csv", *asked, "--columns", "age,yrs_married", "--out", place / "out/map.veil")
    output("publish", place / "DATA.csv", *asked, "--out", place / "out/table.veil")
    made_up_results(place / "results.parquet")
    return place


@pytest.fixture
def given(folder: Path) -> Given:
    """The files of that folder."""
    return Given((folder / "results.parquet",), (folder / "clinic.toml",), (folder / "clinic.ledger",), folder / "out")


def opened(given: Given) -> TestClient:
    """A browser that has the cookie; addresses are relative to the random path."""
    secret = Secrets()
    client = TestClient(
        application(given, secret, PORT), base_url=f"http://{HOST}{secret.base}", follow_redirects=False
    )
    answer = client.get(f"?token={secret.token}")
    assert answer.status_code == 303
    return client


@pytest.fixture
def client(given: Given) -> TestClient:
    """A browser on the whole page."""
    return opened(given)


@pytest.fixture
def number_of(given: Given) -> Callable[[str], int]:
    """The number of a file in the watched folder."""
    return lambda name: next(one.number for one in given.published() if one.name == name)


@pytest.fixture(scope="session")
def small_schema() -> Schema:
    """A schema of two columns and a label."""
    return Schema.loads('name = "s"\nlabel = "y"\n[[column]]\nname = "a"\nkind = "numeric"\nbounds = [0, 9]\n'
                        '[[column]]\nname = "y"\nkind = "categorical"\nvalues = ["no", "yes"]\n')  # fmt: skip
