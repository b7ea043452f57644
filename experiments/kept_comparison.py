"""python -m experiments.kept_comparison: what `veil explore` compares without any file, kept in the package.

All runs of experiments/results/comparison.parquet, and those over numbers of rows in comparison-rows.parquet (see
docs/comparison.md for what they are), every seed of them, so that ties are told as from the files themselves. Numbers
lose digits that no seed agrees on: measures those after the fourth, seconds and MB those after the second.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from veil.explore.given import COMPARISON
from veil.results import COLUMNS, KEY, MEASURED, read_results

from . import RESULTS

FILES = ("comparison-rows", "comparison")  # of the same run, the one in the second
BITS = dict.fromkeys(MEASURED, 13) | {"seconds": 7, "peak_memory": 7}


def rounded(column: pa.ChunkedArray, bits: int) -> pa.Array:
    """Numbers with so many binary digits, which files hold in a third of the space."""
    found = column.to_numpy().astype(np.float32).view(np.uint32)
    short = (found + np.uint32(1 << (22 - bits))) & ~np.uint32((1 << (23 - bits)) - 1)
    return pa.array(short.view(np.float32).astype(np.float64), pa.float64(), from_pandas=True)


def main() -> None:
    """Write the file, and say how large it is."""
    runs = [row for name in FILES for row in read_results(RESULTS / f"{name}.parquet").to_pylist()]
    table = pa.Table.from_pylist([*{tuple(row[name] for name in KEY): row for row in runs}.values()], COLUMNS)
    for name, bits in BITS.items():
        table = table.set_column(table.schema.get_field_index(name), name, rounded(table[name], bits))
    how = {"compression": "zstd", "compression_level": 19, "write_statistics": False, "store_schema": False}
    words = [name for name in COLUMNS.names if name not in MEASURED]
    pq.write_table(table, COMPARISON, use_dictionary=words, use_byte_stream_split=list(MEASURED), **how)
    print(f"{COMPARISON.name}: {table.num_rows:,} runs, {COMPARISON.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
