"""The 53 document types: that the table keeps its promises, and that a key is read or refused."""

from collections import Counter

import pytest

from pii import grid
from pii.entities import ENTITY_TYPES

KEYS = [grid.parse_key(key) for key in grid.TYPES]
HELD_OUT = [grid.parse_key(key) for key in grid.HELD_OUT]


def test_there_are_53_different_types_of_which_11_are_held_out():
    assert len(grid.TYPES) == len(set(grid.TYPES)) == 53
    assert len(grid.HELD_OUT) == 11
    assert len(grid.TRAINED) == 42
    assert set(grid.HELD_OUT) | set(grid.TRAINED) == set(grid.TYPES)
    assert not set(grid.HELD_OUT) & set(grid.TRAINED)


@pytest.mark.parametrize("axis", grid.Key._fields)
def test_every_level_of_every_axis_is_in_at_least_four_types_and_in_four_that_are_trained(axis):
    everywhere = Counter(getattr(key, axis) for key in KEYS)
    trained = Counter(getattr(grid.parse_key(key), axis) for key in grid.TRAINED)
    assert min(everywhere.values()) >= 4
    assert set(trained) == set(everywhere)
    assert min(trained.values()) >= 4


def test_the_axes_have_their_full_range():
    assert {key.family for key in KEYS} == set(grid.FAMILIES)
    assert {key.style for key in KEYS} == set(grid.STYLES)
    assert (min(key.entities for key in KEYS), max(key.entities for key in KEYS)) == (1, 10)
    assert {key.forms for key in KEYS} == {1, 2, 3}
    assert {key.distractors for key in KEYS} == {0, 1, 2}
    assert len({(key.family, key.style) for key in KEYS}) == 35


def test_the_held_out_types_are_spread_over_families_styles_and_densities():
    assert {key.family for key in HELD_OUT} == set(grid.FAMILIES)
    assert {key.style for key in HELD_OUT} == set(grid.STYLES)
    assert {key.entities for key in HELD_OUT} == {key.entities for key in KEYS}
    assert {key.forms for key in HELD_OUT} == {1, 2, 3}
    assert {key.distractors for key in HELD_OUT} == {0, 1, 2}


def test_the_families_draw_from_the_18_types_and_together_cover_them():
    assert all(set(types) <= set(ENTITY_TYPES) and types[0] == "PERSON" for types in grid.FAMILIES.values())
    assert set(grid.FAMILIES["mixed"]) == set(ENTITY_TYPES)
    without_mixed = {type for family, types in grid.FAMILIES.items() if family != "mixed" for type in types}
    assert without_mixed == set(ENTITY_TYPES)


def test_a_key_is_read_from_left_to_right():
    key = grid.parse_key("govt_id|kyc_form|d4|c1|x0|p6")
    assert key == ("govt_id", "kyc_form", 4, 1, 0, 6)
    assert (key.family, key.style, key.entities, key.forms, key.distractors, key.filler) == key


@pytest.mark.parametrize(
    ("key", "part", "way_out"),
    [
        ("", "1 parts", "govt_id|kyc_form|d4|c1|x0|p6"),
        ("govt_id|kyc_form|d4|c1|x0", "5 parts", "govt_id|kyc_form|d4|c1|x0|p6"),
        ("passport|kyc_form|d4|c1|x0|p6", "'passport'", "govt_id, financial"),
        ("govt_id|letter|d4|c1|x0|p6", "'letter'", "kyc_form, bank_statement"),
        ("govt_id|kyc_form|d0|c1|x0|p6", "'d0'", "d1 to d10"),
        ("govt_id|kyc_form|d11|c1|x0|p6", "'d11'", "d1 to d10"),
        ("govt_id|kyc_form|4|c1|x0|p6", "'4'", "d1 to d10"),
        ("govt_id|kyc_form|d04|c1|x0|p6", "'d04'", "d1 to d10"),
        ("govt_id|kyc_form|d४|c1|x0|p6", "'d४'", "d1 to d10"),
        ("govt_id|kyc_form|d4|c4|x0|p6", "'c4'", "c1 to c3"),
        ("govt_id|kyc_form|d4|c1|x3|p6", "'x3'", "x0 to x2"),
        ("govt_id|kyc_form|d4|c1|x0|p21", "'p21'", "p0 to p20"),
        ("govt_id|kyc_form|d4|c1|x0|p6\n", "'p6\\n'", "p0 to p20"),
    ],
)
def test_a_bad_key_is_refused_in_one_line_that_names_the_part_and_what_it_may_be(key, part, way_out):
    with pytest.raises(ValueError) as refused:
        grid.parse_key(key)
    message = str(refused.value)
    assert part in message
    assert way_out in message
    assert "\n" not in message
