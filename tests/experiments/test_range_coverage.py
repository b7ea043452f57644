"""How often the intervals of a histogram's answers hold the truth: a few public histograms, noise as it was drawn."""

import numpy as np
import pandas as pd
import pytest

from experiments.range_coverage import run
from experiments.ranges import SIDES, _coarser

TABLES = {
    "1D-small": ("1D_ADULT-1D", "1D_PATENT", "1D_SEARCHLOGS", "1D_MEDCOST"),
    "2D-small": ("2D_STROKE", "2D_TWITTER", "2D_GOWALLA", "2D_BJ-CABS-E"),
}


@pytest.mark.parametrize("axes", TABLES)
@pytest.mark.parametrize("signal", [100, 1_000, 10_000])
def test_about_95_of_100_intervals_hold_the_truth(data_folder, axes, signal):
    found = list[dict]()
    for name in TABLES[axes]:
        table = _coarser(np.load(data_folder / "dpbench" / f"{name}.npy").astype(np.float64), SIDES[axes])
        for trial in range(6):
            found += run(name, table / table.sum(), axes, signal, trial)
    answers = pd.DataFrame(found)
    reaching = answers[answers["some"]]  # an interval that holds 0 alone is right more often
    assert 0.93 <= reaching["held"].mean() <= 0.98 and len(reaching) > 500
    assert 0.93 <= answers["held"].mean() <= 0.985
    assert 0.92 <= reaching[reaching["halvings"] <= 3]["held"].mean() <= 0.985
