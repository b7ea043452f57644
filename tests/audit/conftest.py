"""Gaps between survivors that a script says, where noise comes from a script."""

import pytest
from exact_laws import Scripted

from veil.kernel.verbs import sparse


@pytest.fixture(autouse=True)
def scripted_gaps(monkeypatch):
    drawn = sparse.gaps

    def gaps(noise, *given):
        return noise.gaps(*given) if isinstance(noise, Scripted) else drawn(noise, *given)

    monkeypatch.setattr(sparse, "gaps", gaps)
