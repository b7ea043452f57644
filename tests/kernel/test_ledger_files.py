"""Ledger files that were edited, damaged, cut, restored or copied, and that cannot be read or written."""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veil.errors import BadInput, LedgerProblem
from veil.kernel import Budget, Ledger, entries, marks, store
from veil.kernel.store import Turn

ASK = {"verb": "count", "question": "age by income", "noise": "operating system", "private": True}


def tell(error):
    """The message, after checking that it is one line which says what to do next."""
    text = str(error.value)
    assert "\n" not in text and ": " in text and len(text) < 500, text
    return text


@pytest.fixture
def path(tmp_path):
    """A ledger file with five entries: three charges, a split, and a charge to one of its parts."""
    ledger = Ledger.create(tmp_path / "survey.ledger", 1, "survey")
    ledger.account.charge(Budget("0.1"), **ASK)
    ledger.account.charge(Budget("0.2"), **ASK)
    group = ledger.account.split(question="sex", parts=2)
    ledger.account.part(group, 1).charge(Budget("0.3"), **ASK)
    return tmp_path / "survey.ledger"


# Edited files


def edit(path, change):
    """Change the lines of a ledger file behind Veil's back, in place."""
    with open(path, "r+b") as file:
        lines = change(file.read().splitlines(keepends=True))
        file.seek(0)
        file.write(b"".join(lines))
        file.truncate()


def bodies_of(path):
    return [json.loads(line)["body"] for line in path.read_text().splitlines()]


def chained(bodies):
    """Lines with right hashes, whatever they say."""
    lines, before = [], ""
    for number, fields in enumerate(bodies, 1):
        body = json.dumps(fields, sort_keys=True)
        before = hashlib.sha256(f"{before}\n{number}\n{body}".encode()).hexdigest()
        lines.append(f'{{"number": {number}, "hash": "{before}", "body": {body}}}\n'.encode())
    return lines


def rewrite(path, bodies):
    """A forger's work: entries replaced, every hash made right."""
    edit(path, lambda _: chained(bodies))


def forget_id(id):
    Path(marks.place(id)).unlink(missing_ok=True)


def forget(path):
    """As on another machine, where nobody charged this ledger."""
    forget_id(bodies_of(path)[0]["id"])


def within(number, old, new):
    """Replaces bytes in one line."""
    return lambda lines: [line.replace(old, new) if i == number else line for i, line in enumerate(lines, 1)]


def without(*numbers):
    return lambda lines: [line for i, line in enumerate(lines, 1) if i not in numbers]


EDITS = {
    "a price": (within(2, b'"1/10"', b'"1/99"'), "entry 2 does not match"),
    "a question": (within(5, b"income", b"outcome"), "entry 5 does not match"),
    "nonsense": (lambda lines: [*lines[:3], b"nonsense\n", *lines[4:]], "entry 4 does not match"),
    "a list": (within(4, b'"body": {', b'"body": [{'), "entry 4 does not match"),
    "a deep list": (lambda lines: [*lines[:3], b"[" * 99_999 + b"\n", *lines[4:]], "entry 4 does not match"),
    "not text": (within(4, b"sex", b"\xff"), "entry 4 does not match"),
    "blanks": (within(4, b'", "body"', b'",  "body"'), "entry 4 does not match"),
    "a hash": (within(3, b'"hash": "', b'"hash": "0'), "entry 3 does not match"),
    "a number": (within(3, b'"number": 3', b'"number": 7'), "entry 3 is missing"),
    "the first gone": (without(1), "edited|lost its first entry"),
    "one gone": (without(3), "entry 3 is missing"),
    "an empty line": (lambda lines: [*lines[:3], b"\n", *lines[3:]], "entry 4 does not match"),
    "one twice": (lambda lines: [*lines[:3], *lines[2:]], "entry 4 is missing"),
    "two swapped": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "entry 2 is missing"),
    "the limit": (within(1, b'"limit": "1"', b'"limit": "9"'), "entry 1"),
    "another line end": (within(2, b"\n", b"\r\n"), "entry 2 does not match"),
    "all gone": (lambda lines: [], "is not a ledger"),
}


@pytest.mark.parametrize("change, message", EDITS.values(), ids=EDITS)
def test_an_edit_is_detected(path, change, message):
    watching = Ledger.open(path)
    edit(path, change)
    with pytest.raises(LedgerProblem, match=message) as error:
        Ledger.open(path)
    tell(error)
    with pytest.raises(LedgerProblem):
        watching.verify()


@pytest.mark.parametrize("size", [1, 2, 50, 200])
def test_a_last_line_cut_short_is_noticed(path, size):
    """To the file's next reader it looks like a charge that was never answered: the mark and open ledgers know."""
    watching, receipt = Ledger.open(path), Ledger.open(path).receipts()[-1].to_dict()
    os.truncate(path, path.stat().st_size - size)
    for use in (lambda: watching.account.charge(Budget("0.1"), **ASK), lambda: Ledger.open(path)):
        with pytest.raises(LedgerProblem) as error:
            use()
        tell(error)
    forget_id(watching.id)
    with pytest.raises(LedgerProblem, match="entry 5 of the receipt is missing"):
        Ledger.open(path).verify([receipt])


def test_entries_from_another_ledger_are_detected(path, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", 1, "survey")
    for _ in range(2):
        other.account.charge(Budget("0.1"), **ASK)
    foreign = (tmp_path / "other.ledger").read_bytes().splitlines(keepends=True)[2]
    edit(path, lambda lines: [*lines[:2], foreign, *lines[3:]])
    with pytest.raises(LedgerProblem, match="entry 3 does not match"):
        Ledger.open(path)


def test_an_appended_entry_over_the_limit_is_detected_though_its_hash_is_right(path):
    bodies = bodies_of(path)
    rewrite(path, [*bodies, {**bodies[1], "epsilon": "2"}])
    with pytest.raises(LedgerProblem, match="pass the limit"):
        Ledger.open(path)


def test_an_edited_limit_is_detected_though_its_hash_is_right(path):
    first = chained([{**bodies_of(path)[0], "limit": "100"}])
    edit(path, lambda lines: [*first, *lines[1:]])
    with pytest.raises(LedgerProblem, match="entry 2 does not match"):
        Ledger.open(path)


@pytest.mark.parametrize(
    "change",
    [{"account": "nowhere"}, {"account": None}, {"account": "/" * 9999}, {"epsilon": "-1/10"}, {"epsilon": 0.1}]
    + [{"epsilon": "1e999999999"}, {"epsilon": None}, {"epsilon": "9" * 5000}, {"account": "/1.1" * 5000}],
)
def test_forged_entries_are_refused_in_one_sentence(path, change):
    bodies = bodies_of(path)
    rewrite(path, [*bodies[:-1], {**bodies[-1], **change}])
    with pytest.raises(LedgerProblem) as error:
        Ledger.open(path)
    tell(error)


def test_a_forged_ledger_passes_alone_elsewhere_and_fails_against_a_receipt(path):
    receipt, bodies = Ledger.open(path).receipts()[0].to_dict(), bodies_of(path)
    rewrite(path, [bodies[0], {**bodies[1], "epsilon": "1/1000"}])
    with pytest.raises(LedgerProblem, match="is not the newest copy"):
        Ledger.open(path)
    forget(path)
    assert Ledger.open(path).spent == Fraction(1, 1000)
    with pytest.raises(LedgerProblem, match="entry 2 is not the receipt's") as error:
        Ledger.open(path).verify([receipt])
    tell(error)


def test_a_ledger_restored_from_a_backup_is_refused_here_and_fails_against_a_receipt_elsewhere(path, tmp_path):
    shutil.copy(path, tmp_path / "backup")
    ledger = Ledger.open(path)
    receipt = ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.verify([receipt.to_dict()]) == 6
    shutil.copy(tmp_path / "backup", path)
    for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: Ledger.open(path)):
        with pytest.raises(LedgerProblem, match="newest copy") as error:
            use()
        tell(error)
    forget(path)
    restored = Ledger.open(path)
    assert restored.verify() == 5 and restored.verify([r.to_dict() for r in restored.receipts()]) == 5
    with pytest.raises(LedgerProblem, match="entry 6 of the receipt is missing") as error:
        restored.verify([receipt.to_dict()])
    tell(error)


def test_the_owner_of_a_lost_ledger_can_go_on_with_an_old_copy_on_purpose(path, tmp_path):
    shutil.copy(path, tmp_path / "backup")
    Ledger.open(path).account.charge(Budget("0.1"), **ASK)
    path.unlink()
    with pytest.raises(LedgerProblem, match="what was spent since is unknown.*delete ") as error:
        Ledger.open(tmp_path / "backup")
    os.unlink(str(error.value).rpartition("delete ")[2])
    Ledger.open(tmp_path / "backup").account.charge(Budget("0.2"), **ASK)
    assert Ledger.open(tmp_path / "backup").spent == Fraction(8, 10)


def test_a_mark_is_a_number_and_a_hash_and_a_ledger_works_without(path, monkeypatch):
    ledger = Ledger.open(path)
    receipt = ledger.account.charge(Budget("0.1"), **ASK)
    mark = Path(marks.place(ledger.id))
    assert mark.read_text() == f"{6:018} {receipt.hash}\n" and mark.stat().st_mode & 0o077 == 0
    for spoilt in ("", "nonsense", "6 abc\n", mark.read_text() * 2):
        mark.write_text(spoilt)
        assert Ledger.open(path).verify() == 6
    for nowhere in ("/dev/null/marks", str(path), "a\0b"):
        monkeypatch.setattr(marks, "place", lambda _, nowhere=nowhere: nowhere + "/mark")
        ledger.account.charge(Budget("0.05"), **ASK)
    assert Ledger.open(path).verify() == 9


@pytest.mark.parametrize(
    "settings, folder",
    [
        ({"VEIL_STATE": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"VEIL_STATE": "", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/veil"),
        ({"VEIL_STATE": "", "XDG_STATE_HOME": "", "HOME": "/c"}, "/c/.local/state/veil"),
    ],
)
def test_marks_are_kept_where_the_user_keeps_such_things(settings, folder, monkeypatch):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for id in ("0" * 32, "../../etc/passwd", "a/b", "", "\ud800"):
        assert re.fullmatch(f"{folder}/[0-9a-f]{{32}}", marks.place(id))


def test_a_ledger_cut_short_passes_alone_elsewhere_and_fails_against_a_receipt(path):
    receipt = Ledger.open(path).receipts()[-1].to_dict()
    edit(path, lambda lines: lines[:3])
    forget(path)
    assert Ledger.open(path).spent == Fraction(3, 10)
    with pytest.raises(LedgerProblem, match="entry 5 of the receipt is missing"):
        Ledger.open(path).verify([receipt])


def test_of_two_copies_one_can_be_spent_and_elsewhere_they_are_told_apart_by_a_receipt(path, tmp_path):
    shutil.copy(path, tmp_path / "copy")
    one, two = Ledger.open(path), Ledger.open(tmp_path / "copy")
    mine = one.account.charge(Budget("0.1"), **ASK)
    with pytest.raises(LedgerProblem, match="is not the newest copy: entry 6"):
        two.account.charge(Budget("0.2"), **ASK)
    forget(path)
    two.account.charge(Budget("0.2"), **ASK)
    forget(path)
    assert one.id == two.id and one.verify([mine.to_dict()]) == two.verify() == 6
    with pytest.raises(LedgerProblem, match="entry 6 is not the receipt's"):
        two.verify([mine.to_dict()])


def test_a_copy_that_went_its_own_way_is_refused_however_long_it_is(path, tmp_path):
    shutil.copy(path, tmp_path / "copy")
    two = Ledger.open(tmp_path / "copy")
    for _ in range(3):
        two.account.charge(Budget("0.05"), **ASK)
    forget(path)
    Ledger.open(path).account.charge(Budget("0.1"), **ASK)
    for use in (lambda: two.account.charge(Budget("0.05"), **ASK), lambda: Ledger.open(tmp_path / "copy")):
        with pytest.raises(LedgerProblem, match="is not the newest copy: entry 6"):
            use()


@pytest.mark.parametrize("change", [{"number": 0}, {"number": None}, {"number": "2"}, {"hash": ""}, {"hash": None}])
def test_a_spoilt_receipt_is_no_witness(path, change):
    ledger = Ledger.open(path)
    with pytest.raises(LedgerProblem) as error:
        ledger.verify([{**ledger.receipts()[0].to_dict(), **change}])
    tell(error)


def test_witnesses_come_in_a_list(path):
    ledger = Ledger.open(path)
    with pytest.raises(BadInput, match="list of receipts"):
        ledger.verify(ledger.receipts()[0].to_dict())


def test_the_receipt_of_another_ledger_is_refused(path):
    other = Ledger(1, "survey")
    other.account.charge(Budget("0.1"), **ASK)
    with pytest.raises(LedgerProblem, match="belongs to another ledger") as error:
        Ledger.open(path).verify([other.receipts()[0].to_dict()])
    tell(error)


# Unusable files


def content(path):
    """What a ledger says, as plain values."""
    ledger = Ledger.open(path, patience=0.1)
    return ledger.id, ledger.limit, ledger.spent, ledger.receipts(), ledger.verify()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda path: None, "there is no ledger at"),
        (lambda path: path.mkdir(), "there is no ledger at"),
        (lambda path: path.symlink_to("nowhere"), "there is no ledger at"),
        (lambda path: path.touch(), "is not a ledger"),
        (lambda path: path.write_bytes(b"name,age\nada,36\n" * 999), "is not a ledger"),
        (lambda path: path.write_bytes(os.urandom(8192)), "is not a ledger"),
        (lambda path: path.write_text('{"number": 1}\n'), "is not a ledger"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" * 99), "run `veil ledger upgrade"),
    ],
)
def test_what_is_not_a_ledger_is_refused_and_left_alone(tmp_path, make, message):
    place = tmp_path / "a.ledger"
    make(place)
    before = place.read_bytes() if place.is_file() else None
    with pytest.raises(LedgerProblem, match=message) as error:
        Ledger.open(place)
    tell(error)
    assert (place.read_bytes() if place.is_file() else None) == before


def test_a_path_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for place in ("", "/", tmp_path, "a\0b", tmp_path / "file" / "a", tmp_path / "no" / "a", tmp_path / ("x" * 300)):
        for use in (Ledger.open, lambda place: Ledger.create(place, 1, "survey")):
            with pytest.raises(LedgerProblem) as error:
                use(place)
            tell(error)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_truncated_file_is_refused(path):
    data = path.read_bytes()
    for size in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(LedgerProblem) as error:
            Ledger.open(path)
        tell(error)
    path.write_bytes(data)
    assert content(path)[-1] == 5


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a ledger of several pages, and what it says."""
    path = tmp_path_factory.mktemp("sound") / "a.ledger"
    ledger = Ledger.create(path, 100, "survey")
    for count in range(8):
        group = ledger.account.split(question="sex", parts=2)
        for index in range(3):
            ledger.account.part(group, index % 2).charge(Budget(Fraction(1, count + 2)), **ASK)
    assert len(path.read_bytes()) > 4096
    return path.read_bytes(), content(path)


places = st.one_of(st.integers(0, 99), st.integers(0, 4095), st.integers(0, 10**6))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.tuples(places, st.binary(min_size=1, max_size=8)), min_size=1, max_size=3))
def test_damaged_bytes_change_nothing_or_are_refused(sound, tmp_path, data):
    good, said = sound
    spoilt = bytearray(good)
    for offset, piece in data:
        spoilt[offset % len(good) : offset % len(good) + len(piece)] = piece
    place = tmp_path / "spoilt.ledger"
    place.write_bytes(spoilt)
    Path(marks.place(said[0])).unlink(missing_ok=True)  # even where nothing is known of it
    try:
        assert content(place) == said
        receipt = Ledger.open(place).account.charge(Budget(1), **ASK)
        assert content(place)[2] == said[2] + 1 and content(place)[3] == [*said[3], receipt]
    except LedgerProblem as problem:
        assert "\n" not in str(problem)


def test_any_flipped_byte_is_refused(sound, tmp_path):
    good, said = sound
    for place in range(0, len(good) - 1, 13):  # the last newline aside: without it the last charge was never answered
        spoilt = tmp_path / "spoilt.ledger"
        spoilt.write_bytes(good[:place] + bytes([good[place] ^ 0x01]) + good[place + 1 :])
        with pytest.raises(LedgerProblem) as error:
            Ledger.open(spoilt)
        tell(error)


def test_a_ledger_of_a_newer_format_asks_for_an_upgrade(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "FORMAT", 2)
    Ledger.create(tmp_path / "a.ledger", 1, "survey")
    monkeypatch.undo()
    with pytest.raises(LedgerProblem, match="pip install -U veil") as error:
        Ledger.open(tmp_path / "a.ledger")
    tell(error)


def test_a_ledger_that_cannot_be_written_can_be_read(path, monkeypatch):
    def read_only(path, flags, *mode, open=os.open):
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "no")
        return open(path, flags, *mode)

    monkeypatch.setattr(os, "open", read_only)
    ledger = Ledger.open(path)
    assert ledger.spent == Fraction(6, 10)
    with pytest.raises(LedgerProblem, match="write permission") as error:
        ledger.account.charge(Budget("0.1"), **ASK)
    tell(error)
    assert ledger.spent == Fraction(6, 10)


def test_a_locked_ledger_is_refused_after_a_while_and_can_be_read_meanwhile(path):
    ledger = Ledger.open(path, patience=0.1)
    with open(path, "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: ledger.account.split(question="q")):
            with pytest.raises(LedgerProblem, match="is locked by another program") as error:
                use()
            tell(error)
        assert ledger.spent == Ledger.open(path).spent == Fraction(6, 10)
    ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.spent == Fraction(7, 10) and ledger.verify() == 6


class Failing:
    """A file whose writes stop short, or whose disk fails."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, data):
        if self.room is None:
            raise OSError(errno.EIO, "the disk is broken")
        return self.file.write(data[: self.room])


@pytest.mark.parametrize(
    "room, message", [(0, "the disk is full"), (40, "the disk is full"), (None, "reports an error")]
)
def test_a_disk_that_takes_no_more_is_reported_and_charges_nothing(path, monkeypatch, room, message):
    ledger = Ledger.open(path)
    monkeypatch.setattr(store, "Turn", lambda where, file, process: Turn(where, Failing(file, room), process))
    for _ in range(2):
        with pytest.raises(LedgerProblem, match=message) as error:
            ledger.account.charge(Budget("0.1"), **ASK)
        tell(error)
    monkeypatch.undo()
    assert ledger.spent == Ledger.open(path).spent == Fraction(6, 10) and ledger.verify() == 5
    ledger.account.charge(Budget("0.1"), **ASK)
    assert ledger.spent == Ledger.open(path).spent == Fraction(7, 10) and ledger.verify() == 6


def test_a_line_that_does_not_land_where_it_must_is_not_answered(path, monkeypatch):
    """As where two write at once because a lock is not honoured: at most one lands right after the last line."""
    mine, other = Ledger.open(path), Ledger.open(path)
    real = Turn.append

    def disturbed(turn, line, place):
        monkeypatch.setattr(Turn, "append", real)
        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "flock", lambda *_: None)
            other.account.charge(Budget("0.1"), **ASK)
        return real(turn, line, place)

    monkeypatch.setattr(Turn, "append", disturbed)
    with pytest.raises(LedgerProblem, match="changed while it was open"):
        mine.account.charge(Budget("0.2"), **ASK)
    assert Ledger.open(path).spent == Fraction(7, 10)


@pytest.mark.parametrize("moment", ["write", "tell"])
def test_whatever_happens_to_the_file_in_the_middle_of_a_charge_it_is_not_answered(path, monkeypatch, moment):
    backup = path.read_bytes()
    fates = {
        "restored": lambda: path.write_bytes(backup[:-300]),
        "emptied": lambda: os.truncate(path, 0),
        "longer": lambda: path.write_bytes(path.read_bytes() + b"more\n"),
        "removed": path.unlink,
        "replaced": lambda: (path.with_name("copy").write_bytes(backup), os.replace(path.with_name("copy"), path)),
        "linked": lambda: os.link(path, path.with_name("twin")),
    }
    for fate in fates.values():
        path.with_name("twin").unlink(missing_ok=True)
        path.write_bytes(backup)
        ledger = Ledger.open(path)

        class Meddling(Failing):
            def __getattr__(self, name, fate=fate):
                if name == moment:
                    fate()
                return getattr(self.file, name)

            write = property(lambda self: self.__getattr__("write"))

        with monkeypatch.context() as patch:
            patch.setattr(store, "Turn", lambda where, file, own, kind=Meddling: Turn(where, kind(file, 0), own))
            with pytest.raises(LedgerProblem) as error:
                ledger.account.charge(Budget("0.1"), **ASK)
        tell(error)
        forget_id(ledger.id)


def test_create_refuses_what_exists_and_leaves_it_alone(path, tmp_path):
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for place in (path, tmp_path / "notes", tmp_path / "link"):
        before = place.read_bytes() if place.is_file() else None
        with pytest.raises(LedgerProblem, match="exists already") as error:
            Ledger.create(place, 2, "other")
        tell(error)
        assert (place.read_bytes() if place.is_file() else None) == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "notes", "survey.ledger"]


def test_one_of_many_who_create_at_once_wins(tmp_path):
    made, refused = [], []

    def create(limit):
        try:
            made.append(Ledger.create(tmp_path / "a.ledger", limit, "survey"))
        except LedgerProblem as problem:
            refused.append(problem)

    threads = [threading.Thread(target=create, args=(limit,)) for limit in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and len(refused) == 7
    assert Ledger.open(tmp_path / "a.ledger").id == made[0].id
    assert not [entry for entry in tmp_path.iterdir() if entry.suffix == ".draft"]


def test_a_failure_to_create_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(LedgerProblem, match="cannot be created") as error:
        Ledger.create(tmp_path / "a.ledger", 1, "survey")
    tell(error)
    assert not list(tmp_path.iterdir())


def test_a_ledger_with_two_names_is_refused(path, tmp_path):
    ledger = Ledger.open(path)
    os.link(path, tmp_path / "twin.ledger")
    for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: Ledger.open(tmp_path / "twin.ledger")):
        with pytest.raises(LedgerProblem, match="has a second name") as error:
            use()
        tell(error)
    (tmp_path / "twin.ledger").unlink()
    assert ledger.spent == Fraction(6, 10)


@pytest.mark.parametrize("fate", ["moved", "replaced", "deleted"])
def test_a_file_that_changes_places_under_an_open_ledger_is_noticed(path, tmp_path, fate):
    ledger = Ledger.open(path)
    shutil.copy(path, tmp_path / "backup")
    if fate == "replaced":
        os.replace(tmp_path / "backup", path)
    elif fate == "moved":
        path.rename(tmp_path / "elsewhere")
    else:
        path.unlink()
    for use in (lambda: ledger.account.charge(Budget("0.1"), **ASK), lambda: ledger.spent, ledger.verify):
        with pytest.raises(LedgerProblem, match="was moved or replaced|is gone") as error:
            use()
        tell(error)


@pytest.mark.parametrize("field", ["time", "run", "purpose", "note", "file", "verb", "question", "protects", "private"])
def test_an_entry_whose_words_are_no_text_is_damage_whatever_its_hash(path, field):
    first, second = path.read_bytes().splitlines(keepends=True)[:2]
    kept = entries.Entries()
    kept.add(first)
    odd = kept.next({**json.loads(second)["body"], field: ["odd"]})[0]
    forget(path)
    path.write_bytes(first + odd)
    with pytest.raises(LedgerProblem, match="entry 2 is damaged"):
        Ledger.open(path).runs()


def test_a_mark_with_something_behind_it_is_a_mark_again_after_the_next_charge(tmp_path, monkeypatch):
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "l", 1, "survey")
    ledger.account.charge(Budget("1/10"), **ASK)
    with open(marks.place(ledger.id), "ab") as file:
        file.write(b"and more")
    assert marks.read(ledger.id) is None
    receipt = ledger.account.charge(Budget("1/10"), **ASK)
    assert marks.read(ledger.id) == (receipt.number, receipt.hash)


def test_a_mark_is_neither_a_link_nor_a_pipe(tmp_path, monkeypatch):
    """In a folder that others can write, a link would have a file of the user's overwritten, and a pipe never ends."""
    monkeypatch.setenv("VEIL_STATE", str(tmp_path / "state"))
    ledger, own = Ledger.create(tmp_path / "l", 1, "survey"), tmp_path / "own"
    own.write_text("mine")
    ledger.account.charge(Budget("1/10"), **ASK)
    for put in (lambda place: os.symlink(own, place), os.mkfifo):
        os.unlink(place := marks.place(ledger.id))
        put(place)
        ledger.account.charge(Budget("1/10"), **ASK)
        assert marks.read(ledger.id) is None and own.read_text() == "mine"
