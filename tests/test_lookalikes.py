"""Look-alikes are what they say: invalid where they have the shape of an identifier, of another kind elsewhere."""

import random
import re

import pytest
from stdnum import luhn, verhoeff
from stdnum.in_ import aadhaar, gstin

from pii import addresses, checks, lookalikes, values
from pii.matching import fold

SEEDS = 2000


def drawn(kind: str) -> list[str]:
    return [lookalikes.lookalike(random.Random(seed), kind) for seed in range(SEEDS)]


def plain(text: str) -> str:
    return fold(text, number=True)


@pytest.mark.parametrize("kind", lookalikes.KINDS)
def test_no_lookalike_is_a_valid_aadhaar_or_card(kind: str) -> None:
    for text in drawn(kind):
        # Whole values, as they stand between word boundaries: no window inside a longer number.
        assert not aadhaar.is_valid(plain(text)), text
        if re.fullmatch(r"(4\d{15}|5[1-5]\d{14}|3[47]\d{13}|6\d{15})", plain(text)):
            assert not luhn.is_valid(plain(text)), text


@pytest.mark.parametrize("kind", lookalikes.KINDS)
def test_no_lookalike_has_the_shape_of_a_mobile_number_a_pan_or_an_ifsc(kind: str) -> None:
    for text in drawn(kind):
        assert not re.fullmatch(r"(\+?91|0)?[6-9]\d{9}", plain(text)), text
        assert not re.fullmatch(r"[A-Z]{5}\d{4}[A-Z]", text), text
        assert not re.fullmatch(r"[A-Z]{4}0[A-Z0-9]{6}", text), text
        assert not re.fullmatch(r"[A-Z]{3}\d{7}|[A-Z][1-9]\d{6}", text), text
        assert "@" not in text


def test_aadhaar_shapes_that_start_with_zero_or_one_have_the_right_check_digit() -> None:
    for text in drawn("bad_aadhaar_start"):
        assert re.fullmatch(r"[01]\d{3}([ -]?)\d{4}\1\d{4}", text)
        assert verhoeff.is_valid(plain(text))


def test_aadhaar_shapes_with_a_wrong_check_digit_are_wrong_in_that_alone() -> None:
    for text in drawn("bad_aadhaar_check"):
        assert re.fullmatch(r"[2-8]\d{3}([ -]?)\d{4}\1\d{4}", text)
        assert not verhoeff.is_valid(plain(text))
        assert checks.verhoeff_digit(plain(text)[:-1]) != plain(text)[-1]


def test_bad_cards_fail_luhn_in_the_shape_of_a_card() -> None:
    for text in drawn("bad_card"):
        assert re.fullmatch(r"\d{4}([ -]?)(\d{4}\1\d{4}\1\d{4}|\d{6}\1\d{5})", text)
        assert not luhn.is_valid(plain(text))


def test_epoch_times_are_seconds_or_milliseconds_of_recent_years() -> None:
    for text in drawn("epoch_time"):
        assert re.fullmatch(r"1[4-7]\d{8}(\d{3})?", text)


def test_order_numbers_with_ten_digits_do_not_start_like_a_mobile() -> None:
    ten = [text for text in drawn("order_number") if re.fullmatch(r"\d{10}", text)]
    assert len(ten) > 200 and all(text[0] in "12345" for text in ten)


def test_company_numbers_have_the_form_of_a_cin() -> None:
    assert all(re.fullmatch(r"[UL]\d{5}[A-Z]{2}(19|20)\d\d(PTC|PLC|OPC|NPL)\d{6}", text) for text in drawn("cin"))


def test_helplines_are_toll_free_or_short() -> None:
    texts = drawn("helpline")
    assert all(re.fullmatch(r"1[89]00[ -]\d{3}[ -]\d{4}|1860[ -]\d{3}[ -]\d{4}|1\d{2,5}", text) for text in texts)
    assert "1930" in texts


def test_gstins_are_valid_and_belong_to_no_person() -> None:
    texts = drawn("gstin")
    assert all(gstin.is_valid(text) for text in texts)
    assert all(text[5] in "CF" for text in texts)


def test_transfer_references_are_longer_than_an_ifsc_or_an_account_is() -> None:
    codes = {bank.code for bank in values.BANKS.values()}
    assert all(len(text) in (16, 22) and text[:4] in codes for text in drawn("utr"))


def test_invoices_trains_and_flights_have_their_forms() -> None:
    assert all(re.match(r"(INV|GST|BILL)", text) for text in drawn("invoice_number"))
    assert all(re.fullmatch(r"[12]\d{4}", text) for text in drawn("train_number"))
    assert all(re.fullmatch(r"(6E|AI|IX|QP|SG)[ -]?\d{3,4}", text) for text in drawn("flight_number"))


def test_cities_are_cities_or_states() -> None:
    known = {city.name for city in addresses.CITIES} | set(addresses.STATES)
    assert all(part in known for text in drawn("city") for part in text.split(", "))


def test_event_dates_are_written_as_dates_of_birth_are() -> None:
    def shapes(texts: list[str]) -> set[str]:
        return {re.sub(r"[A-Z][a-z]+", "Mon", re.sub(r"\d+(st|nd|rd|th)?", "9", text)) for text in texts}

    births = [values.value(random.Random(seed), "DATE_OF_BIRTH") for seed in range(SEEDS)]
    assert shapes(drawn("event_date")) == shapes(births)


def test_some_organisations_carry_a_persons_name() -> None:
    texts = drawn("organisation")
    assert {"Tata Motors Ltd", "Lakshmi Vilas Stores"} <= set(texts)
    assert any(text.endswith("& Sons") for text in texts)
    assert len(set(texts)) > 300


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="unknown look-alike 'horoscope'"):
        lookalikes.lookalike(random.Random(0), "horoscope")
