"""What makes the audit catch a choice by exact facts: errata 21. That it does is in tests/audit."""

import numpy as np

from veil.audit.choice import TABLES, free_metafeatures
from veil.kernel import SeededNoise


def test_a_free_choice_tells_neighbouring_tables_apart_for_certain():
    seen = [free_metafeatures(table, SeededNoise(np.random.default_rng(1)), 5)[:, 0] for table in TABLES]
    assert seen[0].tolist() == [1] * 5 and seen[1].tolist() == [0] * 5  # mwem, then dawa


def test_the_tables_differ_by_one_row():
    fewer, more = (table["place"] for table in TABLES)
    assert more[:-1] == fewer
