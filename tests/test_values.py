"""Every identifier is valid, in every written form, over thousands of seeds; python-stdnum and phonenumbers agree."""

import datetime
import hashlib
import ipaddress
import random
import re
import subprocess
import sys

import phonenumbers
import pytest
from stdnum import luhn
from stdnum.in_ import aadhaar, epic
from stdnum.in_ import pan as stdnum_pan

from pii import addresses, checks, names, values
from pii.entities import DESCRIPTIONS, ENTITY_TYPES, NUMBER_TYPES
from pii.matching import fold

MADE_HERE = [kind for kind in ENTITY_TYPES if kind not in ("PERSON", "ADDRESS")]
SEEDS = 3000


def drawn(kind: str, n: int = SEEDS, **given) -> list[str]:
    return [values.value(random.Random(seed), kind, **given) for seed in range(n)]


def folded(kind: str, **given) -> list[str]:
    return [fold(text, number=True).upper() for text in drawn(kind, **given)]


def shapes(texts: list[str]) -> set[str]:
    """The written forms: digits as 9, letters as they are."""
    return {re.sub(r"\d", "9", text) for text in texts}


def test_the_entity_types_are_those_of_the_task_and_each_is_described() -> None:
    assert len(ENTITY_TYPES) == len(set(ENTITY_TYPES)) == 18
    assert set(DESCRIPTIONS) == set(ENTITY_TYPES)
    assert set(ENTITY_TYPES) > NUMBER_TYPES
    # A dot is a part of these, or tells two dates apart.
    assert not NUMBER_TYPES & {"EMAIL", "UPI_ID", "IP_ADDRESS", "URL", "DATE_OF_BIRTH", "AGE", "PERSON", "ADDRESS"}


def test_verhoeff_and_luhn_give_the_published_check_digits() -> None:
    assert checks.verhoeff_digit("236") == "3"
    assert checks.luhn_digit("7992739871") == "3"
    assert checks.verhoeff("2363") == checks.luhn("79927398713") == 0
    # Verhoeff sees every wrong digit and every swap of neighbours.
    number = "234123412346"
    assert checks.verhoeff(number) == 0
    for place in range(12):
        for digit in "0123456789".replace(number[place], ""):
            assert checks.verhoeff(number[:place] + digit + number[place + 1 :]) != 0
    for place in range(11):
        a, b = number[place], number[place + 1]
        assert a == b or checks.verhoeff(number[:place] + b + a + number[place + 2 :]) != 0


def test_every_aadhaar_passes_stdnum_or_shows_its_last_four_digits_only() -> None:
    texts = drawn("AADHAAR")
    whole = [text for text in texts if "x" not in text.lower()]
    assert 0.85 < len(whole) / len(texts) < 0.91
    assert all(aadhaar.is_valid(fold(text, number=True)) for text in whole)
    assert all(re.fullmatch(r"(XXXX|xxxx)([ -]?)\1\2\d{4}", text) for text in set(texts) - set(whole))
    separators = ("", " ", "-", ".", "\u00a0")
    assert shapes(whole) == {checks.grouped("9" * 12, (4, 4, 4), separator) for separator in separators}


def test_masked_aadhaar_comes_with_spaces_hyphens_and_small_x() -> None:
    forms = {re.sub(r"\d", "9", values.masked_aadhaar(random.Random(seed))) for seed in range(200)}
    assert {"XXXX XXXX 9999", "XXXX-XXXX-9999", "XXXXXXXX9999", "xxxx xxxx 9999"} <= forms


def test_every_pan_passes_stdnum_and_carries_the_initial_of_its_holder() -> None:
    holders = set()
    for seed in range(SEEDS):
        rng = random.Random(seed)
        person = names.person(rng)
        text = values.value(rng, "PAN", person=person)
        assert stdnum_pan.is_valid(text)
        assert text[3:5] == "P" + (person.latin[1] or person.latin[0])[0].upper()
        holders.add(values.value(rng, "PAN")[3])
    assert holders == set("PCHABGJLFT")


def test_a_pan_of_somebody_with_initials_takes_the_given_name() -> None:
    suresh = names.Person("K. R. Suresh", "Suresh", "", "Mr.", "male", "south", "KR", ("Suresh", ""))
    assert values.pan(random.Random(0), suresh)[3:5] == "PS"


def test_passports_are_a_letter_and_seven_digits_and_may_end_in_zero() -> None:
    texts = folded("PASSPORT")
    assert all(re.fullmatch(r"[A-Z][1-9]\d{6}", text) for text in texts)
    assert any(text.endswith("0") for text in texts)


def test_voter_ids_are_not_held_to_the_luhn_digit_that_stdnum_wants() -> None:
    texts = folded("VOTER_ID")
    assert all(re.fullmatch(r"[A-Z]{3}\d{7}", text) for text in texts)
    assert 0.05 < sum(map(epic.is_valid, texts)) / len(texts) < 0.15


def test_driving_licences_name_a_state_an_office_and_a_year() -> None:
    codes = {state.code: state.offices for state in addresses.STATES.values()}
    for text in folded("DRIVING_LICENCE"):
        code, office, year, serial = re.fullmatch(r"([A-Z]{2})(\d\d)(\d{4})(\d{7})", text).groups()
        assert 1 <= int(office) <= codes[code] and 1988 <= int(year) <= values.TODAY.year and int(serial)
    assert all(text.startswith("MH") for text in drawn("DRIVING_LICENCE", 50, state="Maharashtra"))
    assert any(re.fullmatch(r"MH\d\d \d{11}", text) for text in drawn("DRIVING_LICENCE", 50, state="Maharashtra"))


def test_bank_accounts_have_the_length_of_their_bank() -> None:
    lengths = {"State Bank of India": 11, "ICICI Bank": 12, "HDFC Bank": 14, "Bank of Baroda": 14, "Axis Bank": 15}
    lengths["Punjab National Bank"] = 16
    for bank, length in lengths.items():
        assert values.BANKS[bank].length == length
    for name, bank in values.BANKS.items():
        assert all(len(text) == bank.length and text.isdigit() for text in folded("BANK_ACCOUNT", bank=name)[:300])


def test_some_accounts_look_like_an_aadhaar_or_a_card() -> None:
    assert any(aadhaar.is_valid(text) for text in folded("BANK_ACCOUNT", bank="ICICI Bank"))
    assert any(luhn.is_valid(text) for text in folded("BANK_ACCOUNT", bank="Punjab National Bank"))


def test_ifscs_are_four_letters_of_a_bank_a_zero_and_six_alphanumerics() -> None:
    codes = {bank.code for bank in values.BANKS.values()}
    assert all(re.fullmatch(r"[A-Z]{4}0[A-Z0-9]{6}", text) and text[:4] in codes for text in drawn("IFSC"))
    assert all(text.startswith("HDFC0") for text in drawn("IFSC", 50, bank="HDFC Bank"))


def test_upi_ids_have_no_dot_after_the_at_and_emails_always_have_one() -> None:
    for text in drawn("UPI_ID"):
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,}@[a-z]+", text), text
    for text in drawn("EMAIL"):
        assert re.fullmatch(r"[a-z0-9][a-z0-9._]+@[a-z0-9]+(\.[a-z]+)+", text.lower()), text


def test_addresses_on_the_net_are_made_from_the_name() -> None:
    person = names.Person("राजेश कुमार", "राजेश", "कुमार", "श्री", "male", "north", "", ("Rajesh", "Kumar"))
    for kind in ("EMAIL", "URL"):
        assert all("rajesh" in text.lower() or "kumar" in text.lower() for text in drawn(kind, 200, person=person))
    # About a third of UPI ids are mobile numbers.
    assert 100 < sum("rajesh" in text or "kumar" in text for text in drawn("UPI_ID", 200, person=person)) < 180


def test_cards_pass_luhn_in_the_lengths_and_ranges_of_four_networks() -> None:
    ranges = {
        "visa": r"4\d{15}",
        "mastercard": r"(5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d+",
        "rupay": r"(60|65|81|82|508)\d+",
        "amex": r"3[47]\d{13}",
    }
    seen = set()
    for text in folded("CREDIT_CARD"):
        assert luhn.is_valid(text)
        networks = [network for network, pattern in ranges.items() if re.fullmatch(pattern, text)]
        assert len(networks) == 1 and len(text) == (15 if networks == ["amex"] else 16)
        seen.add(networks[0])
    assert seen == set(ranges)
    assert {"9999 9999 9999 9999", "9999-9999-9999-9999", "9" * 16, "9999 999999 99999"} <= shapes(drawn("CREDIT_CARD"))


def test_phone_numbers_are_valid_in_every_spacing() -> None:
    texts = drawn("PHONE")
    for text in texts:
        # A 91 without its plus is a way of writing that libphonenumber reads only with the plus.
        number = f"+{text}" if re.match(r"91[ -]?[6-9]", text) and len(fold(text, number=True)) == 12 else text
        assert phonenumbers.is_valid_number(phonenumbers.parse(number, "IN")), text
    forms = {"9999999999", "99999 99999", "99999-99999", "999 999 9999", "+99 99999 99999", "+99-9999999999"}
    forms |= {"+999999999999", "99 9999999999", "99999999999", "999-99999999", "(999) 99999999", "(9999) 9999999"}
    assert forms <= shapes(texts)


def test_mobiles_start_with_six_to_nine_and_landlines_with_a_real_std_code() -> None:
    stds = {city.std[1:] for city in addresses.CITIES}
    mobiles = 0
    for text in folded("PHONE"):
        digits = re.sub(r"\D", "", text)[-10:]
        if text.lstrip("+").startswith(("91", "0", "(")) and digits[0] not in "6789":
            assert any(digits.startswith(std) and digits[len(std)] in "23456" for std in stds), text
        mobiles += digits[0] in "6789"
    assert mobiles > 0.75 * SEEDS


def test_pincodes_start_with_one_to_eight_and_fit_the_state() -> None:
    assert all(re.fullmatch(r"[1-8]\d{5}", text) for text in folded("PINCODE"))
    kerala = folded("PINCODE", state="Kerala")
    assert {text[:2] for text in kerala} == {"67", "68", "69"}
    assert {"999999", "999 999"} == shapes(drawn("PINCODE"))


def test_ages_are_the_number_alone() -> None:
    ages = [int(text) for text in drawn("AGE")]
    assert min(ages) >= 1 and max(ages) <= 99


def test_a_birth_date_gives_back_the_age() -> None:
    today = values.TODAY
    for seed in range(SEEDS):
        rng = random.Random(seed)
        age = values.age_years(rng)
        born = values.birth_date(rng, age)
        assert today.year - born.year - ((today.month, today.day) < (born.month, born.day)) == age


def test_dates_are_written_in_many_forms_that_all_mean_the_same_day() -> None:
    date = datetime.date(1991, 8, 3)
    forms = {values.written_date(random.Random(seed), date) for seed in range(400)}
    assert forms == {
        "03/08/1991", "03-08-1991", "03.08.1991", "1991-08-03", "03 Aug 1991", "03-Aug-1991", "3 August 1991",
        "August 3, 1991", "3rd August 1991", "3/8/1991", "03/08/91",
    }  # fmt: skip
    endings = dict.fromkeys((1, 2, 11, 22, 23, 13), values.written_date)
    written = {
        day: {write(random.Random(seed), date.replace(day=day)) for seed in range(400)}
        for day, write in endings.items()
    }
    for day, ordinal in {1: "1st", 2: "2nd", 11: "11th", 13: "13th", 22: "22nd", 23: "23rd"}.items():
        assert f"{ordinal} August 1991" in written[day]


def test_ip_addresses_are_of_both_versions() -> None:
    versions = {ipaddress.ip_address(text).version for text in drawn("IP_ADDRESS")}
    assert versions == {4, 6}


def test_urls_lead_to_a_person() -> None:
    for text in drawn("URL"):
        assert re.fullmatch(r"(https?://)?(www\.)?[a-z0-9-]+(\.[a-z0-9-]+)+(/(in/|profile/|@)?[a-z0-9_-]+)?", text), (
            text
        )


@pytest.mark.parametrize("kind", MADE_HERE)
def test_a_value_folds_to_itself_however_it_is_wrapped(kind: str) -> None:
    number, broken = kind in NUMBER_TYPES, 0
    for seed in range(300):
        rng = random.Random(seed)
        text = values.value(rng, kind)
        two_lines = values.wrapped(rng, text)
        broken += "\n" in two_lines
        assert two_lines.count("\n") <= 1
        assert fold(two_lines, number) == fold(text, number)
    assert broken > 50 or kind not in ("AADHAAR", "PHONE", "CREDIT_CARD", "DRIVING_LICENCE")


@pytest.mark.parametrize("kind", MADE_HERE)
def test_a_value_stands_between_word_boundaries(kind: str) -> None:
    for text in drawn(kind, 300):
        assert text == text.strip() and text[-1].isalnum() and (text[0].isalnum() or text[0] in "+(")


def test_an_unknown_type_and_an_unknown_state_are_named() -> None:
    with pytest.raises(ValueError, match="PERSON"):
        values.value(random.Random(0), "PERSON")
    with pytest.raises(ValueError, match="Atlantis"):
        values.value(random.Random(0), "PINCODE", state="Atlantis")
    with pytest.raises(ValueError, match="Gringotts"):
        values.value(random.Random(0), "IFSC", bank="Gringotts")


DIGEST = """
import hashlib, random
from pii import addresses, lookalikes, names, values
from pii.entities import ENTITY_TYPES
rng = random.Random("a seed in words")
made = []
for _ in range(50):
    person = names.person(rng)
    made += [person.full, *names.relation(rng, person)[1], addresses.address(rng).text]
    made += [values.value(rng, kind, person=person) for kind in ENTITY_TYPES if kind not in ("PERSON", "ADDRESS")]
    made += [lookalikes.lookalike(rng, kind) for kind in lookalikes.KINDS]
digest = hashlib.sha256(repr(made).encode()).hexdigest()
"""


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    here: dict[str, str] = {}
    exec(DIGEST, here)
    code = DIGEST + "print(digest)"
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed}
        )
        assert run.stdout.strip() == here["digest"]
    assert len(here["digest"]) == hashlib.sha256().digest_size * 2
