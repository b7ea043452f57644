"""What a newcomer meets: names to complete, warnings, progress, and what notebooks show."""

import subprocess
import sys

import pytest

import veil


def test_everything_that_is_offered_can_be_completed_and_had():
    assert {*veil.__all__} <= {*dir(veil)}
    assert all(getattr(veil, name) is not None for name in veil.__all__)
    assert veil.datasets.load("iris")


def test_listing_the_names_loads_nothing_heavy():
    program = "import veil, sys; dir(veil); assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="no attribute 'METHODS'"):
        veil.METHODS  # noqa: B018
