"""Damaged and hostile files, a few of each kind; `make fuzz` tries many more."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "fuzz"))

from readers import CANARY, READERS, Reader, content_of  # noqa: E402
from worker import problems  # noqa: E402

INPUTS = 25


@pytest.mark.parametrize("name", READERS)
def test_any_file_is_read_or_refused_and_shows_no_value(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    found = {seed: problems(reader, content_of(reader, seed), tmp_path / reader.name) for seed in range(INPUTS)}
    assert not {seed: wrong for seed, wrong in found.items() if wrong}
    assert content_of(reader, 3) == content_of(reader, 3)


SOUND = ("schema", "ledger", "model", "synopsis", "ranges")  # of the others, some beginnings are refused already


@pytest.mark.parametrize("name", SOUND)
def test_the_files_that_damage_begins_from_are_sound(name: str, tmp_path: Path) -> None:
    for content in READERS[name].contents():
        (tmp_path / READERS[name].name).write_bytes(content)
        READERS[name].read(tmp_path / READERS[name].name)


def test_a_reader_that_shows_a_value_or_fails_otherwise_is_caught(tmp_path: Path) -> None:
    def quoting(path: Path) -> None:
        raise ValueError(f"could not read {CANARY}")

    found = problems(Reader("x", lambda: [b""], lambda content, _: content, quoting), b"", tmp_path / "x")
    assert found == "ValueError in quoting shows a value of the rows"
