"""Bank and card statements, passbooks and advices: a head of fields, a table of transactions, notes."""

from __future__ import annotations

from pii.styles import distractors, filler
from pii.styles.style import Skeleton, Style

SKELETONS = (
    Skeleton(
        """STATEMENT OF ACCOUNT
{fields}

Date  Particulars  Amount
{rows}

{body}

{filler}
*** End of statement ***""",
        upper=True,
    ),
    Skeleton(
        """Savings Account Summary as on {date}

{fields}

| Txn date | Narration | Rs. |
{rows}

Notes: {body} {filler}""",
        field="{label}: {value}",
        row="| {date} | {text} | {amount} |",
    ),
    Skeleton(
        """PASSBOOK (page 3)
{fields}
-----------------------------
{rows}
-----------------------------
{filler}
{body}""",
        field="{label} {value}",
        row="{date} {text} {amount} Dr",
    ),
    Skeleton(
        """CREDIT CARD STATEMENT
Payment due date: {date}

{fields}

Transactions
{rows}

Important
{filler}

{body}""",
        field="{label} : {value}",
        row="{date}; {text}; {amount}",
        upper=True,
    ),
    Skeleton(
        """{filler}

Your monthly e-statement

{fields}

{rows}

{body}""",
        field="{label} - {value}",
        row="- {date}: {text} ({amount})",
    ),
    Skeleton(
        """DEBIT ADVICE
Date {date} Time {time}

{body}

{fields}

{rows}

{filler}""",
        field="{label}: {value}",
        row="{n}. {text} Rs {amount}",
    ),
    Skeleton(
        """--- MINI STATEMENT ---
{rows}
--- CUSTOMER ---
{fields}

{body}

{filler}""",
        field="{label}={value}",
        row="{date} {text} {amount}",
        upper=True,
    ),
    Skeleton(
        """LOAN ACCOUNT STATEMENT

Borrower details
{fields}

Remarks
{body}

Repayments
{rows}

{filler}""",
        field="* {label}: {value}",
        row="EMI {n}  {date}  {text}  {amount}",
    ),
    Skeleton(
        """खाता विवरण / ACCOUNT STATEMENT

{fields}

{rows}

{filler}

{body}""",
        row="{date} | {text} | {amount} | CR",
    ),
    Skeleton(
        """Transaction receipt

{body}

{fields}

{filler}

Generated on {date} at {time}""",
        field="{label}\n{value}",
    ),
    Skeleton(
        """INTEREST CERTIFICATE
(for the financial year)

{fields}

{body}

{filler}

For the bank, Authorised Signatory""",
        field="{label} : {value}",
        upper=True,
    ),
    Skeleton(
        """UPI transaction history

{rows}

Account holder information
{fields}

{filler}

{body}""",
        field="{label}: {value}",
        row="[{date} {time}] {text} Rs.{amount}",
        join="\n",
        sentence="* {text}",
    ),
    Skeleton(
        """DATE,DESCRIPTION,AMOUNT
{rows}

{fields}

{body} {filler}""",
        field="# {label},{value}",
        row="{date},{text},{amount}",
    ),
    Skeleton(
        """FIXED DEPOSIT ADVICE

{fields}

{filler}

Instructions on record
{body}""",
        field="{label}:  {value}",
    ),
)

LABELS = {
    "PERSON": ("Account Holder", "Name", "Customer Name", "Statement for", "A/c Name", "Primary holder", "नाम / Name"),
    "OTHER": ("{Role}", "{Role} Name", "Name of {role}", "{Role} (registered)"),
    "ADDRESS": ("Address", "Mailing address", "Communication Address", "Address on record", "Registered address"),
    "PINCODE": ("PIN", "PIN Code", "Pincode", "Postal code"),
    "PHONE": ("Mobile", "Registered Mobile No.", "Phone", "Contact no.", "SMS alerts to"),
    "EMAIL": ("E-mail", "Email ID", "E-statement sent to", "Registered email", "ईमेल / Email"),
    "AGE": ("Age", "Age of holder", "Holder's age (yrs)", "Completed age"),
    "DATE_OF_BIRTH": ("Date of birth", "DOB", "Holder DOB", "Birth date on record"),
    "AADHAAR": ("Aadhaar", "Aadhaar seeded", "Aadhaar No.", "UID linked", "आधार / Aadhaar"),
    "PAN": ("PAN", "PAN No.", "Income-tax PAN", "PAN on record", "Permanent Account No."),
    "PASSPORT": ("Passport No.", "Passport", "ID document (passport)", "Passport on record"),
    "VOTER_ID": ("Voter ID", "EPIC", "Voter card no.", "ID document (EPIC)"),
    "DRIVING_LICENCE": ("Driving Licence", "DL No.", "ID document (DL)", "Licence no."),
    "BANK_ACCOUNT": ("Account No.", "A/c Number", "Account Number", "SB A/c", "खाता सं. / A/c No.", "Linked account"),
    "IFSC": ("IFSC", "IFS Code", "Branch IFSC", "IFSC Code", "NEFT IFSC"),
    "UPI_ID": ("UPI ID", "VPA", "Linked UPI", "UPI address"),
    "CREDIT_CARD": ("Card No.", "Card Number", "Credit Card", "Debit card", "Card account"),
    "IP_ADDRESS": ("Last login IP", "IP address", "Net banking IP", "Session IP"),
    "URL": ("Web page", "Merchant profile", "Customer URL", "Profile page"),
}

SENTENCES = {
    "PERSON": (
        "This statement is issued to {hon} {}.",
        "The account is held in the name of {}.",
        "Dear {}, please find your transactions above.",
        "Issued at the request of {hon} {}.",
        "Our records show {} as the account holder.",
    ),
    "OTHER": (
        "{} is registered as {role}.",
        "The {role} on this account is {hon} {}.",
        "A copy is marked to {} ({role}).",
        "{Role} {} may also sign.",
    ),
    "ADDRESS": (
        "{Whose} mailing address is {}.",
        "The cheque book was couriered to {}.",
        "Letters for {whose} account go to {}.",
        "{Whose} address was changed to {}.",
    ),
    "PINCODE": (
        "{Whose} postal code on record is {}.",
        "Deliveries for {whose} PIN {} may take a week.",
        "PIN code {} is recorded for {whose} letters.",
        "{Whose} area code was updated to PIN {}.",
    ),
    "PHONE": (
        "SMS alerts go to {whose} mobile {}.",
        "{Whose} registered number is {}.",
        "A call was made to {whose} phone {}.",
        "The OTP went to {}, {whose} mobile.",
    ),
    "EMAIL": (
        "The e-statement was mailed to {}.",
        "{Whose} registered e-mail is {}.",
        "A password hint was sent to {whose} mailbox {}.",
        "To stop paper statements for {whose} account, write from {}.",
    ),
    "AGE": (
        "Senior rates depend on age; {whose} age is {}.",
        "{Whose} age on record: {} years.",
        "At {whose} age of {} the term plan is available.",
        "The system computed {whose} age as {}.",
    ),
    "DATE_OF_BIRTH": (
        "{Whose} date of birth on record is {}.",
        "The statement password is {whose} birth date, {}.",
        "{Whose} DOB {} was confirmed on the call.",
        "Please check {whose} date of birth: {}.",
    ),
    "AADHAAR": (
        "Subsidy is credited through {whose} Aadhaar {}.",
        "{Whose} Aadhaar {} is seeded with this account.",
        "Aadhaar {} was mapped at NPCI for {whose} account.",
        "{Whose} UID {} was used for the withdrawal.",
    ),
    "PAN": (
        "TDS is reported under {whose} PAN {}.",
        "{Whose} PAN {} is updated.",
        "Interest is shown in Form 26AS of PAN {}.",
        "PAN {} is recorded against {whose} deposits.",
    ),
    "PASSPORT": (
        "Forex was issued against {whose} passport {}.",
        "{Whose} passport {} is on record.",
        "Passport {} was noted for {whose} remittance.",
        "{Whose} travel card is tied to passport {}.",
    ),
    "VOTER_ID": (
        "{Whose} identity was proved by voter ID {}.",
        "EPIC {} is on record for {whose} account.",
        "{Whose} voter card {} was scanned.",
        "Proof held for {whose} account: voter card {}.",
    ),
    "DRIVING_LICENCE": (
        "{Whose} identity proof is driving licence {}.",
        "The vehicle loan file has {whose} DL {}.",
        "DL {} is on record for {whose} account.",
        "{Whose} licence {} was scanned.",
    ),
    "BANK_ACCOUNT": (
        "Interest is credited to {whose} account {}.",
        "{Whose} account {} is the repayment account.",
        "Standing instruction: debit {}, {whose} savings account.",
        "The proceeds were moved to {whose} A/c {}.",
    ),
    "IFSC": (
        "For NEFT to {whose} account use IFSC {}.",
        "{Whose} branch code is {}.",
        "The IFSC of {whose} branch is now {}.",
        "Funds for {whose} account came through {}.",
    ),
    "UPI_ID": (
        "{Whose} UPI ID {} is active.",
        "Collect requests to {whose} VPA {} are blocked.",
        "Payments to {} reach {whose} account.",
        "{Whose} linked UPI handle is {}.",
    ),
    "CREDIT_CARD": (
        "{Whose} card {} was billed.",
        "The limit of {whose} card number {} is unchanged.",
        "An add-on was issued on card {}.",
        "Reward points of {whose} card {} expire in March.",
    ),
    "IP_ADDRESS": (
        "{Whose} last login came from IP {}.",
        "A failed login from {} was blocked.",
        "{Whose} net banking session used address {}.",
        "The payee was added from {whose} IP {}.",
    ),
    "URL": (
        "{Whose} payment page is {}.",
        "The merchant link of {whose} account is {}.",
        "Settlements of {} come to {whose} account.",
        "{Whose} profile page on record: {}.",
    ),
}

ROWS = {
    "OTHER": ("NEFT to {}", "TRF to {}", "IMPS/P2A/{}", "TRF FROM {}", "Rent - {}", "Chq paid to {}"),
    "UPI_ID": ("UPI/{}/rent", "UPI-{}-Payment", "BY UPI {}", "UPI/CR/{}/family", "UPI collect {}"),
    "BANK_ACCOUNT": ("TRF TO A/C {}", "IMPS {}", "NEFT Cr from A/c {}", "Sweep to {}"),
    "IFSC": ("NEFT via {}", "RTGS-{}", "NEFT/{}/salary", "Inward RTGS {}"),
    "PHONE": ("Prepaid recharge {}", "IMPS to mobile {}", "BILLPAY postpaid {}", "SMS pay {}"),
    "CREDIT_CARD": ("CARD PAYMENT {}", "Billdesk card {}", "POS card {}", "Autopay CC {}"),
}

COMBINED = (
    "Statement of {PERSON}, account {BANK_ACCOUNT}, branch code {IFSC}.",
    "Card {CREDIT_CARD} of {PERSON} is payable from {BANK_ACCOUNT}.",
    "{PERSON} (PAN {PAN}) is the sole holder.",
    "Alerts for {PERSON} go to {PHONE} and {EMAIL}.",
    "{hon} {PERSON}, {ADDRESS}, has a zero balance account.",
    "The refund to {UPI_ID} of {PERSON} was reversed.",
)

AGAIN = (
    (
        "{hon} {} has opted for e-statements.",
        "{hon} {} reported a lost cheque.",
        "Please contact {hon} {} before closing the account.",
        "The locker rent of {hon} {} is due.",
        "{hon} {} has asked for a lower limit.",
        "Standing instructions of {hon} {} continue.",
        "A dispute was raised by {hon} {}.",
        "{hon} {} is a privileged customer.",
    ),
    (
        "Nickname on the app: {}.",
        "{} spoke to the branch about the charges.",
        "The add-on card is printed as {}.",
        "Greeting name: {}.",
        "{} called twice about this entry.",
        "Reply from {} is awaited.",
        "{} agreed to the new plan.",
        "Cash was handed over to {} at the counter.",
    ),
)

ROLES = ("nominee", "joint holder", "co-borrower", "guarantor", "second holder")
VOICES = (("the holder's", "PERSON"), ("the customer's", "PERSON"))

STYLE = Style(
    skeletons=SKELETONS,
    sentences=SENTENCES,
    again=AGAIN,
    roles=ROLES,
    voices=VOICES,
    distractors=distractors.BANK_STATEMENT,
    filler=filler.BANK_STATEMENT,
    combined=COMBINED,
    labels=LABELS,
    rows=ROWS,
    row_filler=filler.TRANSACTIONS,
    in_fields=0.7,
)
