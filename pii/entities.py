"""The types of personal data, in the order that the prompt, the grammar and the tables list them."""

from __future__ import annotations

ENTITY_TYPES: tuple[str, ...] = (
    "PERSON",
    "ADDRESS",
    "PINCODE",
    "PHONE",
    "EMAIL",
    "AGE",
    "DATE_OF_BIRTH",
    "AADHAAR",
    "PAN",
    "PASSPORT",
    "VOTER_ID",
    "DRIVING_LICENCE",
    "BANK_ACCOUNT",
    "IFSC",
    "UPI_ID",
    "CREDIT_CARD",
    "IP_ADDRESS",
    "URL",
)

# Types whose written forms differ only in spaces, hyphens and dots: `2341 2341 2346` and `2341-2341-2346` are one
# number. E-mail, UPI, IP and web addresses are not among them (a dot there is a part of the value), nor are dates
# (1-11-1990 and 11-1-1990 would become one) and ages.
NUMBER_TYPES: frozenset[str] = frozenset(
    {
        "PINCODE",
        "PHONE",
        "AADHAAR",
        "PAN",
        "PASSPORT",
        "VOTER_ID",
        "DRIVING_LICENCE",
        "BANK_ACCOUNT",
        "IFSC",
        "CREDIT_CARD",
    }
)

DESCRIPTIONS: dict[str, str] = {
    "PERSON": "a person's name, without Shri, Mr. or Dr.",
    "ADDRESS": "a postal address, from house to PIN code",
    "PINCODE": "a 6-digit PIN code that stands outside an address",
    "PHONE": "a mobile or landline number of a person",
    "EMAIL": "an e-mail address",
    "AGE": "a person's age, the number alone",
    "DATE_OF_BIRTH": "a date of birth, no other date",
    "AADHAAR": "a 12-digit Aadhaar number, also masked",
    "PAN": "a 10-character income tax PAN",
    "PASSPORT": "an Indian passport number",
    "VOTER_ID": "a voter id (EPIC) number",
    "DRIVING_LICENCE": "a driving licence number",
    "BANK_ACCOUNT": "a bank account number",
    "IFSC": "the 11-character code of a bank branch",
    "UPI_ID": "a UPI payment id, name@handle",
    "CREDIT_CARD": "a credit or debit card number",
    "IP_ADDRESS": "an IPv4 or IPv6 address",
    "URL": "the address of a personal web page or profile",
}
