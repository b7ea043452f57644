"""The embedded data sets: real rows, and hand-written schemas that fit them; and schemas of public tables."""

import sys
from typing import Any

import pandas as pd
import pytest

from veil import BadInput, Categorical, Numeric, Schema
from veil.datasets import NAMES, PUBLIC, load, public_schema
from veil.owner import fit_of

SHAPES = {"fair": (6366, 9), "iris": (150, 5), "wine": (178, 14), "breast_cancer": (569, 31), "digits": (1797, 65)}


@pytest.fixture(scope="module", params=NAMES)
def loaded(request: pytest.FixtureRequest) -> tuple[str, pd.DataFrame, Schema]:
    return (request.param, *load(request.param))


def test_rows_and_schema_have_the_same_columns(loaded: tuple[str, pd.DataFrame, Schema]) -> None:
    name, rows, schema = loaded
    assert schema.name == name
    assert sorted(rows.columns) == sorted(column.name for column in schema.column)
    assert rows.shape == SHAPES[name]


def test_every_value_is_declared(loaded: tuple[str, pd.DataFrame, Schema]) -> None:
    _, rows, schema = loaded
    assert [fit for fit in fit_of(rows, schema) if fit.clipped or fit.missing] == []
    assert all(len(codes) == len(rows) for codes in schema.encode(rows).values())


def test_the_label_is_categorical_and_all_its_classes_occur(loaded: tuple[str, pd.DataFrame, Schema]) -> None:
    _, rows, schema = loaded
    assert isinstance(schema.get(schema.label or ""), Categorical)
    assert set(rows[schema.label]) == set(schema.classes)


def test_a_schema_says_where_its_rows_come_from_and_survives_toml(loaded: tuple[str, pd.DataFrame, Schema]) -> None:
    _, _, schema = loaded
    assert schema.source
    assert Schema.loads(schema.to_toml()) == schema


def test_no_feature_is_the_label_in_disguise() -> None:
    rows, schema = load("fair")
    assert "affairs" not in rows.columns and "affairs" not in [column.name for column in schema.column]
    assert rows["affair"].eq("yes").mean() == pytest.approx(0.322, abs=0.001)


def test_an_unknown_set_is_refused_with_the_choices() -> None:
    with pytest.raises(BadInput, match="there is no data set 'titanic': choose one of fair, iris, wine"):
        load("titanic")


@pytest.mark.parametrize("name, package", [("fair", "statsmodels.datasets"), ("iris", "pandas")])
def test_a_missing_package_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BadInput, match=r"pip install 'veil\[demo\]'"):
        load(name)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_schema_loads_and_survives_toml(name: str) -> None:
    schema = public_schema(name)
    assert schema.source and schema.rows is None and len(schema.classes) == 2
    assert Schema.loads(schema.to_toml()) == schema


def inside(groups: Any) -> list[str]:
    """All values in a taxonomy."""
    return list(groups) if isinstance(groups, tuple) else [name for part in groups.values() for name in inside(part)]


@pytest.mark.parametrize("name", PUBLIC)
def test_taxonomies_of_public_tables_cover_their_values_and_nest(name: str) -> None:
    """More than three codes are grouped, all of them; each level splits the groups of the one above."""
    for column in public_schema(name).features:
        assert isinstance(column, Numeric) or column.size <= 3 or sorted(inside(column.groups)) == sorted(column.values)
        assert max(column.levels[1]) < 4
        for coarse, fine in zip(column.levels[:-1], column.levels[1:], strict=True):
            assert len(set(zip(coarse, fine, strict=True))) == max(fine) + 1 > max(coarse) + 1


def test_an_unknown_public_table_is_refused_with_the_choices() -> None:
    with pytest.raises(BadInput, match="there is no public schema 'titanic': choose one of adult, bank_additional"):
        public_schema("titanic")
