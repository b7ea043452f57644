"""What is in the package, and what importing it loads."""

import subprocess
import sys
from pathlib import Path

import veil

HEAVY = {"joblib", "matplotlib", "pandas", "pyarrow.parquet", "scipy", "sklearn", "statsmodels"}

TABLES = {  # what methods did on public tables, and counts of these in cells: no rows
    ".csv": "choice/classifiers.csv",
    ".parquet": "explore/comparison.parquet",
    ".zip": "explore/ranges.zip",
}


def test_importing_veil_loads_nothing_that_takes_long() -> None:
    program = "import sys, veil; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "veil" in loaded and not HEAVY & set(loaded)


def test_the_package_holds_source_and_declarations_alone() -> None:
    files = [path for path in Path(veil.__file__).parent.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.suffix or path.name for path in files} - {".py", ".toml"} == {*TABLES, ".css", ".js", ".typed"}
    assert [path.name for path in files if path.suffix == ".js"] == ["script.js"]  # the one of veil explore
    tables = {str(path.relative_to(Path(veil.__file__).parent)) for path in files if path.suffix in TABLES}
    assert tables == {*TABLES.values()}


def test_sparse_matrices_are_known_from_when_there_can_be_any() -> None:
    program = """
import sys, numpy as np
from veil.schema.encoding import is_sparse
assert not is_sparse(np.eye(2)) and "scipy" not in sys.modules
from scipy.sparse import coo_array, csr_matrix
assert is_sparse(csr_matrix(np.eye(2))) and is_sparse(coo_array(np.eye(2))) and not is_sparse(np.eye(2))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
