"""Pictures: every number has its place, nothing leaves the picture, text is escaped."""

import re
from math import isfinite
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veil.drawing import LEVELS, Picture, Scale, heat, heat_level, rounded

NUMBERS = st.floats(-1e6, 1e6)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_scale_stays_between_its_ends_whichever_is_larger(low: float, high: float, value: float) -> None:
    assert 10 <= Scale(low, high, 10, 90)(value) <= 90


def test_a_scale_keeps_the_order_of_numbers() -> None:
    plain, turned, logs = Scale(0, 10, 0, 100), Scale(10, 0, 0, 100), Scale(0.01, 10, 0, 90, logs=True)
    assert [plain(0), plain(5), plain(10)] == [0, 50, 100] and [turned(0), turned(10)] == [100, 0]
    assert [logs(0.01), logs(0.1), logs(1), logs(10)] == [0, 30, 60, 90]


@given(NUMBERS, st.floats(1e-6, 1e6))
def test_a_few_round_numbers_lie_within_an_axis(low: float, width: float) -> None:
    found = rounded(low, low + width)
    room = 1e-6 * max(width, 1)
    assert len(found) <= 6 and all(low - room <= value <= low + width + room for value in found)


def test_a_picture_is_sound_and_says_what_it_shows() -> None:
    drawn = Picture('<evil> & "quoted"', (0.01, 10), (0.5, 1.0), logs=True, below="epsilon", beside="<b>")
    drawn.line([(0.1, 0.7), (1, 0.8), (5, float("nan"))], "main")
    drawn.band([(0.1, 0.6, 0.8), (1, 0.7, 0.9)])
    drawn.step([(0.1, 0.6), (1, 0.9)])
    drawn.dots([(0.1, 0.7)])
    drawn.bars([(0.1, 1, 0.7)])
    drawn.rule(0.9, "a limit")
    drawn.post(1, "here")
    root = ElementTree.fromstring(drawn.svg())
    assert root.attrib["aria-label"] == '<evil> & "quoted"' and root.attrib["role"] == "img"
    assert "style" not in {name for node in root.iter() for name in node.attrib}  # which a strict policy refuses
    numbers = [float(found) for node in root.iter() for found in re.findall(r"-?[\d.]+", node.attrib.get("d", ""))]
    assert numbers and all(isfinite(value) and -1 <= value <= 461 for value in numbers)


def test_names_of_a_list_each_have_a_line_of_their_own() -> None:
    drawn = Picture("list", (0, 1), (2.5, -0.5), names=["one", "two", "three"])
    drawn.lying(0, 0.2, 0.4)
    places = [float(found) for found in re.findall(r'y="([\d.]+)" text-anchor="end"', drawn.svg())]
    assert len({*places}) == 3 and places == sorted(places)


@pytest.mark.parametrize(
    ("value", "level"), [(0, 0), (-5, 0), (100, LEVELS), (50, LEVELS - 1), (49, LEVELS - 1), (0.01, 0)]
)
def test_each_shade_is_twice_the_one_before(value: float, level: int) -> None:
    assert heat_level(value, 100) == level


def test_a_map_draws_its_columns_from_left_to_right_and_from_the_bottom_up() -> None:
    text = heat("map", [[0, 8], [1, 0]], 8, width=100)
    assert re.findall(r'class="h(\d)" d="([^"]+)"', text) == [("5", "M1 1h1v1h-1z"), ("8", "M0 0h1v1h-1z")]
    assert 'transform="scale(50.0000 50.0000)"' in text


def test_neighbours_of_the_same_shade_are_one_piece_of_a_map_and_a_part_of_it_is_framed() -> None:
    text = heat("map", [[8, 8, 1, 1], [0, 0, 0, 8]], 8, width=40, box=(1, 2, 0, 3))
    assert re.findall(r'class="h(\d)" d="([^"]+)"', text) == [("5", "M0 0h1v2h-1z"), ("8", "M0 2h1v2h-1zM1 0h1v1h-1z")]
    assert 'class="chosen" x="20.0" y="14.0" width="20.0" height="42.0"' in text


def test_bars_in_one_shape_hang_down_where_they_are_negative() -> None:
    picture = Picture("bars", (0, 2), (-1, 1))
    picture.skyline([(0, 1, 1.0), (1, 2, -1.0)])
    top, bottom, zero = picture.y(1), picture.y(-1), picture.y(0)
    left, middle, right = map(picture.x, (0, 1, 2))
    assert f'd="M{left:g} {zero:g}V{top:g}H{middle:g}V{bottom:g}H{right:g}V{zero:g}Z"' in picture.svg()
