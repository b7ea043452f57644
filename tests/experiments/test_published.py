"""The tables of the papers are public by their name: only the experiments' own command takes them so."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from veil import BadInput, Categorical, Numeric, Schema
from veil.compare.data import load

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    columns = [Numeric(name="x", bounds=(0, 1)), Categorical(name="y", values=["a", "b"])]
    for name in ("cmc", "clinic"):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(b"x,y\n" + b"0.1,a\n0.9,b\n" * 20))
        (tmp_path / f"{name}.schema.toml").write_text(Schema(name=name, label="y", column=columns).to_toml())
    monkeypatch.setenv("VEIL_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("name", "code"), [("cmc", 0), ("clinic", 2)])
def test_the_command_compares_on_tables_of_the_papers_and_on_no_others(folder, name, code):
    command = [sys.executable, "-m", "experiments", "compare", "--methods", "majority", "--data", name, "--seeds", "1"]
    done = subprocess.run(
        [*command, "--out", folder / "r.parquet", "--jobs", "1"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == code and (code == 0 or "does not say `public = true`" in done.stderr), done.stderr


def test_elsewhere_a_name_makes_no_table_public(folder):
    with pytest.raises(BadInput, match="public = true"):
        load("clinic")
