"""Addresses run from flat to PIN, and the PIN fits the city and its state."""

import random
import re

import pytest
from faker.providers.address.en_IN import Provider as FakerAddresses
from faker.providers.person.en_IN import Provider as FakerNames

from pii import addresses
from pii.matching import fold

SEEDS = 4000

# The first two digits of a PIN code by state (India Post): two dozen postal circles.
POSTAL_CIRCLES = {
    "Delhi": "11", "Haryana": "12 13", "Punjab": "14 15 16", "Chandigarh": "16", "Himachal Pradesh": "17",
    "Jammu and Kashmir": "18 19", "Ladakh": "19", "Uttar Pradesh": "20 21 22 23 24 25 26 27 28", "Uttarakhand": "24 26",
    "Rajasthan": "30 31 32 33 34", "Gujarat": "36 37 38 39", "Maharashtra": "40 41 42 43 44", "Goa": "40",
    "Madhya Pradesh": "45 46 47 48", "Chhattisgarh": "49", "Telangana": "50", "Andhra Pradesh": "51 52 53",
    "Karnataka": "56 57 58 59", "Tamil Nadu": "60 61 62 63 64", "Puducherry": "60", "Kerala": "67 68 69",
    "West Bengal": "70 71 72 73 74", "Sikkim": "73", "Odisha": "75 76 77", "Assam": "78", "Arunachal Pradesh": "79",
    "Meghalaya": "79", "Manipur": "79", "Mizoram": "79", "Nagaland": "79", "Tripura": "79", "Bihar": "80 81 82 84 85",
    "Jharkhand": "81 82 83",
}  # fmt: skip


def drawn() -> list[addresses.Address]:
    return [addresses.address(random.Random(seed)) for seed in range(SEEDS)]


def test_the_lists_are_long_enough() -> None:
    assert len(addresses.CITIES) >= 40 and len(addresses.STATES) >= 28
    assert len(addresses._PLACES["streets"]) >= 60 and len(addresses._PLACES["localities"]) >= 60
    for heading, items in addresses._PLACES.items():
        assert len(items) == len(set(items)), heading


def test_every_prefix_belongs_to_the_postal_circle_of_its_state() -> None:
    assert set(POSTAL_CIRCLES) == set(addresses.STATES)
    for state in addresses.STATES.values():
        assert {prefix[:2] for prefix in state.pin_prefixes} <= set(POSTAL_CIRCLES[state.name].split()), state.name
    for city in addresses.CITIES:
        known = addresses.STATES[city.state].pin_prefixes
        assert all(len(prefix) == 3 and prefix.startswith(known) for prefix in city.pin_prefixes), city.name
        assert re.fullmatch(r"0[1-9]\d{1,3}", city.std), city.name


def test_a_pin_fits_its_state() -> None:
    for state in addresses.STATES:
        for seed in range(100):
            pin = addresses.pincode(random.Random(seed), state)
            assert re.fullmatch(r"[1-8]\d{5}", pin) and pin[:2] in POSTAL_CIRCLES[state].split()


def test_sikkim_lies_within_the_digits_of_west_bengal_and_is_kept_apart() -> None:
    for seed in range(500):
        assert addresses.pincode(random.Random(seed), "West Bengal")[:3] != "737"
        assert addresses.pincode(random.Random(seed), "Sikkim")[:3] == "737"


def test_an_address_holds_its_street_its_city_and_a_pin_that_fits() -> None:
    prefixes = {city.name: city.pin_prefixes for city in addresses.CITIES}
    for place in drawn():
        assert place.street in place.text and place.city in place.text
        assert place.pincode.startswith(prefixes[place.city])
        assert place.pincode in place.text or f"{place.pincode[:3]} {place.pincode[3:]}" in place.text
        assert place.pincode[:2] in POSTAL_CIRCLES[place.state].split()


def test_two_to_four_lines_are_the_same_address() -> None:
    counts = set()
    for place in drawn():
        assert " ".join(place.lines) == place.text
        assert fold("\n".join(place.lines)) == fold(place.text)
        assert all(line and line == line.strip() for line in place.lines)
        counts.add(len(place.lines))
    assert counts == {2, 3, 4}


def test_addresses_begin_and_end_on_a_word_and_have_no_empty_part() -> None:
    for place in drawn():
        assert place.text[0].isalnum() or place.text[0] == "#"
        assert place.text[-1].isalnum()
        assert ",," not in place.text and ", ," not in place.text and "  " not in place.text


def test_addresses_are_urban_and_rural_and_the_pin_is_written_in_many_ways() -> None:
    texts = [place.text for place in drawn()]
    for pattern in (
        r"^Flat", r"^H\.No\.", r"^Door No\.", r"^Village", r"^VPO", r", Post ", r"Tehsil", r"Dist\.",
        r" - \d{6}", r"-\d{6}", r"\d{3} \d{3}$", r"PIN \d{6}", r"Pin: \d{6}", r"\d{6}, [A-Z]", r"Near |Opp\. ",
    ):  # fmt: skip
        assert sum(bool(re.search(pattern, text)) for text in texts) > 20, pattern
    assert len(set(texts)) == SEEDS


def test_an_address_of_one_state() -> None:
    assert all(addresses.address(random.Random(seed), "Kerala").state == "Kerala" for seed in range(50))
    with pytest.raises(ValueError, match="Atlantis"):
        addresses.address(random.Random(0), "Atlantis")
    with pytest.raises(ValueError, match="Atlantis"):
        addresses.pincode(random.Random(0), "Atlantis")


def test_faker_cannot_make_one_of_the_training_streets() -> None:
    endings = [form.replace("{{last_name}}", "").strip() for form in FakerAddresses.street_name_formats]
    made = {f"{name} {ending}".strip() for name in FakerNames.last_names for ending in endings}
    assert not addresses.STREETS & made


def test_one_seed_makes_one_address() -> None:
    assert drawn()[:50] == drawn()[:50]
