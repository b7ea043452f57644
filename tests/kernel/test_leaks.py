"""Nothing but a release tells about rows: not bytes, messages, reprs, receipts, copies, forks or warnings."""

import copy
import os
import pickle
import re

import numpy as np
import pandas as pd
import pytest

from veil import (
    WHOLE,
    BadInput,
    Budget,
    Categorical,
    Ledger,
    Majority,
    Numeric,
    Rows,
    Schema,
    SystemNoise,
    grid,
    open_source,
)
from veil.kernel import Softmax

SCHEMA = Schema(
    name="toy",
    label="y",
    column=[
        Categorical(name="a", values=("u", "v")),
        Numeric(name="x", bounds=(0, 4), bins=4),
        Categorical(name="y", values=("no", "yes")),
    ],
)
FEW = pd.DataFrame({"a": ["u"], "x": [1.0], "y": ["no"]})
MORE = pd.DataFrame({"a": ["u", "v", None], "x": [1.0, np.nan, np.inf], "y": ["no", "yes", "yes"]})


def source_of(rows, noise=None):
    return open_source(rows, SCHEMA, Ledger(10**9, "toy"), noise=noise)


def form(array):
    """Everything about an array that can be seen from outside."""
    seen = (
        array.dtype.str,
        array.shape,
        array.strides,
        array.flags.c_contiguous,
        array.flags.writeable,
        array.base is None,
    )
    return (*seen, array.tobytes() if array.dtype != object else tuple(array))


def forms_by_value(ask, rows, tries=400):
    """The forms that releases of these rows took, by value."""
    source, forms = source_of(rows), {}
    for _ in range(tries):
        arrays = ask(source)
        forms.setdefault(tuple(tuple(a.ravel().tolist()) for a in arrays), set()).add(tuple(map(form, arrays)))
    return forms


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: [s.count(WHOLE, Budget(2)).value],
        lambda s: (lambda v: [v.codes, v.counts])(s.count_sparse(grid(SCHEMA, "a"), Budget(1), threshold=2).value),
    ],
    ids=["count", "count_sparse"],
)
def test_the_same_release_is_the_same_bytes_whichever_table_it_came_from(ask):
    few, more = forms_by_value(ask, FEW), forms_by_value(ask, MORE)
    shared = few.keys() & more.keys()
    assert len(shared) > 3
    assert all(few[value] == more[value] and len(few[value]) == 1 for value in shared)


def test_a_sparse_release_is_sorted_and_does_not_mark_the_occupied_cells():
    source = source_of(MORE)
    for _ in range(200):
        codes = source.count_sparse(grid(SCHEMA, "a", "x"), Budget("1/4"), threshold=1).value.codes
        assert (np.diff(codes) > 0).all() and codes.dtype == np.int64


def test_receipts_do_not_change_with_the_rows():
    asks = [
        lambda s: s.count(grid(SCHEMA, "a"), Budget(1)).receipt,
        lambda s: s.count_sparse(grid(SCHEMA, "a", "x"), Budget(1)).receipt,
        lambda s: s.occupied(grid(SCHEMA, "a", "x"), Budget(1)).receipt,
        lambda s: s.choose([WHOLE, grid(SCHEMA, "a")], Majority(), Budget(1)).receipt,
        lambda s: s.quantile("x", 0.5, Budget(1)).receipt,
        lambda s: s.quantiles("x", 2, Budget(1)).receipt,
        lambda s: s.misordered("x", 1, Budget(1)).receipt,
        lambda s: s.minimise(Softmax(), [grid(SCHEMA, "a"), grid(SCHEMA, "x")], Budget(1)).receipt,
        lambda s: s.split(grid(SCHEMA, "a"))[2].count(WHOLE, Budget(1)).receipt,
    ]
    private = ("ledger", "hash", "time", "run")  # random and clock, not rows

    def stories(rows):
        source = source_of(rows)
        return [{k: v for k, v in ask(source).to_dict().items() if k not in private} for ask in asks]

    assert stories(FEW) == stories(MORE) == stories(FEW[:0])


def test_splits_have_the_same_shape_whatever_the_rows():
    for rows in (FEW, MORE, FEW[:0]):
        assert len(source_of(rows).split(grid(SCHEMA, "a", "x"))) == 15


def test_private_things_have_a_bare_repr_and_cannot_be_copied():
    source = source_of(MORE)
    sieve = source.above(Rows(), 1, Budget(1))
    for thing in (source, source._table, sieve, source.split_at_random(1, 1)[0]):
        assert re.fullmatch(r"<[a-z' ]+>", repr(thing)) and str(thing) == repr(thing)
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                duplicate(thing)


def test_a_release_holds_no_reference_to_rows():
    release = source_of(MORE).count(grid(SCHEMA, "a"), Budget(1))
    assert set(vars(release)) == {"value", "scale", "receipt", "question", "classes"}
    assert pickle.loads(pickle.dumps(release.value)).sum() == release.value.sum()


def in_child(work):
    """What `work` returns in a forked process, as text."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(writer, str(work()).encode())
        except BaseException as error:  # the parent asserts on it
            os.write(writer, type(error).__name__.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # Python 3.12 warns of forks beside threads; this is one on purpose
def test_two_processes_after_a_fork_never_share_noise(tmp_path):
    source = open_source(FEW, SCHEMA, Ledger.create(tmp_path / "l", 1000, "toy"))
    ask = lambda: source.count(grid(SCHEMA, "a", "x"), Budget("1/1000")).value.ravel().tolist()  # noqa: E731
    assert in_child(ask) != str(ask())
    assert source._account.ledger.spent == Budget("1/500").epsilon
    words = SystemNoise()
    assert in_child(lambda: words.words(4).tolist()) != str(words.words(4).tolist())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_sieve_and_a_ledger_in_memory_refuse_in_another_process():
    source = source_of(FEW)
    sieve = source.above(Rows(), 1, Budget(1))
    assert in_child(lambda: sieve.ask(WHOLE)) == "BadInput"
    assert in_child(lambda: source.count(WHOLE, Budget(1))) == "LedgerProblem"


def test_rows_never_warn_print_or_log(capfd, caplog, recwarn):
    odd = pd.DataFrame(
        {"a": [1, object(), b"\xff", None], "x": ["9", "nine", 1e308, -np.inf], "y": ["no", "yes", "maybe", 7]}
    )
    source = source_of(odd)
    for ask in (
        lambda: source.count(grid(SCHEMA, "a", "x"), Budget(1)),
        lambda: source.count_sparse(grid(SCHEMA, "a", "x"), Budget(1)),
        lambda: source.occupied(grid(SCHEMA, "a", "x"), Budget(1)),
        lambda: source.choose([WHOLE, grid(SCHEMA, "x")], Majority(), Budget(1)),
        lambda: source.quantile("x", 0.5, Budget(1)),
        lambda: source.quantiles("x", 2, Budget(1)),
        lambda: source.misordered("x", 1, Budget(1)),
    ):
        ask()
    assert capfd.readouterr() == ("", "") and not caplog.records and not recwarn.list


def test_complaints_about_names_and_shapes_tell_nothing_about_rows():
    def complaint(rows):
        with pytest.raises(BadInput) as problem:
            source_of(rows)
        return str(problem.value)

    assert complaint(FEW.drop(columns="x")) == complaint(MORE.drop(columns="x"))
    assert complaint({"a": ["u"], "x": [], "y": ["no"]}) == complaint({"a": ["u"] * 9, "x": [3], "y": ["no"]})
    assert complaint(np.zeros((3, 2))) == complaint(np.zeros((900, 2)))


def test_seeded_answers_are_marked_everywhere():
    source = source_of(FEW, noise=7)
    release = source.count(WHOLE, Budget(1))
    assert release.receipt.private is False and release.receipt.noise == "seeded"
    assert "NOT private" in repr(release) and "not all of it private" in repr(source._account.ledger)
    assert (source_of(FEW, noise=7).count(WHOLE, Budget(1)).value == release.value).all()
    assert source_of(FEW).count(WHOLE, Budget(1)).receipt.private is True
