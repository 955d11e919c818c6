"""People: names by region, initials, relations and honorifics, and which names the training documents leave alone."""

import random
import re

import pytest
from faker.providers.person.en_IN import Provider as FakerNames

from pii import names
from pii.matching import fold

SEEDS = 4000
HONORIFICS = {
    "mr",
    "mrs",
    "ms",
    "shri",
    "sri",
    "smt",
    "dr",
    "prof",
    "sardar",
    "sardarni",
    "janab",
    "ji",
    "श्री",
    "श्रीमती",
    "जी",
}


def people(**given) -> list[names.Person]:
    return [names.person(random.Random(seed), **given) for seed in range(SEEDS)]


def tokens(text: str) -> list[str]:
    return [token for token in re.split(r"[ .]+", text) if token]


def test_every_region_has_forty_given_names_of_each_gender_and_thirty_surnames() -> None:
    lists = names._NAMES
    for region in names.REGIONS:
        assert len(set(lists[f"{region} male"])) >= 40, region
        assert len(set(lists[f"{region} female"])) >= 40, region
        assert len(set(lists[f"{region} surnames"])) >= 30, region
    assert sum(names.REGIONS.values()) == pytest.approx(1)


def test_no_list_holds_a_name_twice() -> None:
    for heading, items in names._NAMES.items():
        assert len(items) == len(set(items)), heading


def test_people_of_all_regions_and_both_genders_are_drawn() -> None:
    drawn = people()
    assert {person.region for person in drawn} == set(names.REGIONS)
    assert {person.gender for person in drawn} == {"male", "female"}
    assert len({person.full for person in drawn}) > 0.8 * SEEDS


def test_a_name_is_written_with_initials_in_the_south() -> None:
    written = {re.sub(r"[A-Za-z]{2,}", "Name", person.full) for person in people(region="south") if person.initials}
    masked = {re.sub(r"\b[A-Z]\b", "K", full) for full in written}
    assert {"K. K. Name", "K.K. Name", "K K Name", "Name K.K.", "Name K K", "K. Name", "Name K"} <= masked


def test_some_people_have_one_name_only_unless_more_forms_are_asked_for() -> None:
    single = [person for person in people() if len(tokens(person.full)) == 1]
    assert 0.02 * SEEDS < len(single) < 0.15 * SEEDS
    assert all(len(tokens(person.full)) > 1 for person in people(forms=2))


def test_no_honorific_stands_in_a_name() -> None:
    for person in people(devanagari=0.2):
        for form in (person.full, person.given, person.surname):
            assert not HONORIFICS & {token.casefold() for token in tokens(form)}, form


def test_name_forms_differ_also_when_folded() -> None:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        person = names.person(rng, forms=3, devanagari=0.2)
        forms = names.name_forms(rng, person, 3)
        assert forms[0] == person.full
        assert len({fold(form) for form in forms}) == 3, forms
        assert names.name_forms(rng, person, 1) == [person.full]


def test_the_second_form_is_the_surname_and_the_third_the_given_name() -> None:
    person = names.Person("Rajesh Kumar", "Rajesh", "Kumar", "Mr.", "male", "north", "", ("Rajesh", "Kumar"))
    assert names.name_forms(random.Random(0), person, 3) == ["Rajesh Kumar", "Kumar", "Rajesh"]
    assert names.courtesy(random.Random(0), person, "Kumar") == ("Mr. ", "")
    suresh = names.Person("K. R. Suresh", "Suresh", "", "Mr.", "male", "south", "KR", ("Suresh", ""))
    full, given, last = names.name_forms(random.Random(1), suresh, 3)
    assert (full, given) == ("K. R. Suresh", "Suresh") and last.startswith("Suresh K")


def test_a_single_name_has_one_form_and_says_so() -> None:
    person = names.Person("Lalthanmawia", "Lalthanmawia", "", "Mr.", "male", "north_east", "", ("Lalthanmawia", ""))
    with pytest.raises(ValueError, match="'Lalthanmawia' has 1 name forms, 2 were asked for"):
        names.name_forms(random.Random(0), person, 2)


def test_a_surname_alone_is_always_written_with_an_honorific() -> None:
    for person in people(forms=2, devanagari=0.2):
        if person.surname and person.surname != person.given:
            before, after = names.courtesy(random.Random(1), person, person.surname)
            assert before == f"{person.honorific} " and after == ""


def test_courtesies_do_not_touch_the_name() -> None:
    seen = set()
    for seed in range(SEEDS):
        rng = random.Random(seed)
        person = names.person(rng, devanagari=0.1)
        before, after = names.courtesy(rng, person, person.full)
        assert before == "" or before.endswith(" ")
        assert after == "" or not after[0].isalnum()
        seen |= {before, after}
    assert {"Mr. ", "Shri ", "Smt. ", "Dr. ", " ji", "-ji", " जी", "श्री "} <= seen


def test_a_relation_is_a_second_person_with_another_given_name() -> None:
    markers = {"male": set(), "female": set()}
    shared = 0
    for seed in range(SEEDS):
        rng = random.Random(seed)
        person = names.person(rng, devanagari=0.1)
        marker, relative = names.relation(rng, person)
        markers[person.gender].add(marker)
        assert relative.given != person.given and relative.full != person.full
        assert relative.full.split()[-1] in (relative.surname, relative.given) or relative.initials
        assert relative.full.isascii() == person.full.isascii()
        shared += bool(relative.surname) and relative.surname == person.surname
    assert {"S/o", "C/o"} <= markers["male"] and {"D/o", "W/o", "C/o", "पत्नी"} <= markers["female"]
    assert not {"D/o", "W/o"} & markers["male"] and "S/o" not in markers["female"]
    assert shared > 0.3 * SEEDS


def test_a_relation_can_keep_off_the_surname() -> None:
    for seed in range(SEEDS):
        rng = random.Random(seed)
        person = names.person(rng, forms=3)
        relative = names.relation(rng, person, share_surname=False)[1]
        assert not person.surname or relative.surname != person.surname


def test_devanagari_names_keep_their_vowel_signs_and_their_latin_form() -> None:
    native = [person for person in people(devanagari=0.3) if not person.full.isascii()]
    assert len(native) > 100
    for person in native:
        assert fold(person.full) == person.full
        assert all(part.isascii() and part.isalpha() for part in person.latin)
        assert person.latin[0] in names.GIVEN_NAMES and person.latin[1] in names.SURNAMES
    # Without their vowel signs different names would become equal.
    given = [pair.split("=")[1] for gender in ("male", "female") for pair in names._NAMES[f"devanagari {gender}"]]
    assert len({fold(name) for name in given}) == len(set(given))


def test_every_token_of_a_name_is_in_the_exposed_lists() -> None:
    known = names.GIVEN_NAMES | names.SURNAMES | {"Md", "Mohd"}
    for person in people(devanagari=0.1):
        for token in tokens(person.full):
            assert token in known or (len(token) == 1 and token in person.initials), person.full


def test_training_names_leave_most_of_fakers_names_to_the_external_set() -> None:
    ours = {name.casefold() for name in names.GIVEN_NAMES | names.SURNAMES}
    given = {name.casefold() for name in FakerNames.first_names}
    family = {name.casefold() for name in FakerNames.last_names}
    assert len(given - ours) > 500 and len(given & ours) < 20
    assert len(family - ours) > 450 and len(family & ours) < 80


def test_one_seed_draws_one_person() -> None:
    assert people()[:50] == people()[:50]
