"""KYC forms: account opening, SIM, fund, insurance and rental forms. Mostly fields, with remarks in prose."""

from __future__ import annotations

from pii.styles import distractors, filler
from pii.styles.style import Skeleton, Style

SKELETONS = (
    Skeleton(
        """ACCOUNT OPENING FORM (INDIVIDUAL)
Please fill in capital letters with black ink

{fields}

Remarks:
{body}

{filler}

Signature of applicant: ______________    Date: {date}""",
        upper=True,
    ),
    Skeleton(
        """KNOW YOUR CUSTOMER
Customer information sheet

{filler}

Section A: Particulars
{fields}

Section B: For office use
{body}""",
        field="{n}. {label} : {value}",
    ),
    Skeleton(
        """CKYC UPDATE REQUEST          Date {date}
----------------------------------------
{fields}
----------------------------------------
{filler}

Verification notes
{body}

(Seal and signature of official)""",
        field="{label} - {value}",
    ),
    Skeleton("""केवाईसी प्रपत्र / KYC FORM

{fields}

टिप्पणी / Remarks
{body}

घोषणा / Declaration
{filler}

हस्ताक्षर / Signature"""),
    Skeleton(
        """| Field | Entry |
|---|---|
{fields}

Checked by counter 2 on {date}. {body}

{filler}""",
        field="| {label} | {value} |",
    ),
    Skeleton(
        """NEW CONNECTION - CUSTOMER APPLICATION FORM
[x] Prepaid   [ ] Postpaid

{fields}

{filler}

Point of sale comments
{body}""",
        field="{label}\n  {value}",
        join="\n",
        sentence="- {text}",
    ),
    Skeleton(
        """Form for re-KYC of existing customers

{body}

Details as per records
{fields}

Terms
{filler}""",
        field="({n}) {label}: {value}",
    ),
    Skeleton(
        """MUTUAL FUND COMMON APPLICATION
1st holder to sign at all places marked X

{filler}

{fields}

{body}

X ______________""",
        field="{label}............ {value}",
    ),
    Skeleton(
        """TENANT VERIFICATION FORM
(to be submitted at the local police station)

{fields}

Statement
{body}

Note: {filler}""",
        field="{label} = {value}",
    ),
    Skeleton(
        """DECLARATION

{body}

{fields}

{filler}

Place: ____________
Date: {date}""",
        field="{label}: {value}",
    ),
    Skeleton(
        """*** PROPOSAL FOR INSURANCE ***
Part I
{fields}

Part II - Agent's report
{body}

Part III - Instructions
{filler}""",
        field="{label}:\t{value}",
        join="\n",
        sentence="{n}) {text}",
    ),
    Skeleton(
        """LOCKER HIRE / KYC ANNEXURE
Branch copy

{filler}

{fields}

{body}
Initials of custodian: ________""",
        field="{label} : {value}",
        upper=True,
    ),
    Skeleton(
        """Video KYC session record, {date} {time}

{fields}

Observations: {body}

{filler}

Session result: APPROVED / REJECTED / REFERRED""",
        field="> {label}: {value}",
    ),
    Skeleton(
        """DEMAT ACCOUNT - ADDITIONAL KYC FORM
(use one form for each holder)

{fields}

{body}

{filler}""",
        field="[{label}] {value}",
    ),
)

# fmt: off
LABELS = {
    "PERSON": (
        "Name", "Full Name", "Name of Applicant", "Applicant's name", "Name (as in ID proof)", "नाम / Name",
        "Customer Name", "Name of 1st Holder",
    ),
    "OTHER": ("Name of {role}", "{Role}", "{Role} Name", "{Role}'s full name", "{Role} (name in full)"),
    "ADDRESS": (
        "Address", "Permanent Address", "Correspondence address", "पता / Address", "Residential Address",
        "Address (as in proof)", "Present address",
    ),
    "PINCODE": ("PIN Code", "Pincode", "PIN", "Postal PIN code of residence", "पिन कोड / PIN", "Area PIN"),
    "PHONE": (
        "Mobile No.", "Mobile", "Telephone", "Contact Number", "मोबाइल / Mobile", "Registered mobile",
        "Phone (with STD code)",
    ),
    "EMAIL": ("E-mail", "Email ID", "E-mail Address", "ईमेल / Email", "Email for statements"),
    "AGE": ("Age (years)", "Age", "आयु / Age", "Age in completed years", "Age last birthday"),
    "DATE_OF_BIRTH": ("Date of Birth", "DOB", "D.O.B.", "जन्म तिथि / Date of Birth", "Born on", "Birth date"),
    "AADHAAR": (
        "Aadhaar No.", "Aadhaar Number", "UID / Aadhaar", "आधार संख्या / Aadhaar", "Aadhaar (12 digits)",
        "UIDAI number",
    ),
    "PAN": ("PAN", "PAN No.", "Permanent Account Number", "Income Tax PAN", "पैन / PAN", "PAN card number"),
    "PASSPORT": (
        "Passport No.", "Passport Number", "Indian Passport", "पासपोर्ट / Passport", "Passport (file copy attached)",
    ),
    "VOTER_ID": (
        "Voter ID", "EPIC No.", "Election card number", "मतदाता पहचान पत्र / Voter ID", "Voter's identity card",
    ),
    "DRIVING_LICENCE": (
        "Driving Licence", "DL No.", "Driving Licence Number", "Licence No. (RTO)", "ड्राइविंग लाइसेंस / DL",
    ),
    "BANK_ACCOUNT": (
        "Account No.", "Bank A/c Number", "Savings account", "खाता संख्या / Account No.", "A/c for redemption",
        "Bank account to be debited",
    ),
    "IFSC": ("IFSC", "IFS Code", "IFSC of branch", "Branch IFSC Code", "RTGS / NEFT IFSC"),
    "UPI_ID": ("UPI ID", "VPA", "UPI address", "UPI handle for refunds", "Virtual Payment Address"),
    "CREDIT_CARD": ("Credit Card No.", "Card Number", "Card for autopay", "Debit/Credit card", "Card to be linked"),
    "IP_ADDRESS": ("IP address of session", "Client IP", "Login IP", "Device IP", "Submitted from IP"),
    "URL": ("Website", "Profile link", "Personal web page", "LinkedIn / profile URL", "Portfolio URL"),
}
# fmt: on

SENTENCES = {
    "PERSON": (
        "I, {}, declare that the details given here are true.",
        "The form has been submitted by {hon} {} in person.",
        "This is to certify that {hon} {} has signed before me.",
        "Applicant {} was identified from the original documents.",
        "Received from {hon} {}: one set of self-attested copies.",
        "The customer, {}, is known to the branch for three years.",
    ),
    "OTHER": (
        "{hon} {} is recorded as the {role}.",
        "The {role}, {}, has also signed.",
        "Consent of the {role} {hon} {} was taken.",
        "{} will act as {role}.",
        "Signature of {} ({role}) obtained.",
    ),
    "ADDRESS": (
        "{Whose} residence was verified at {}.",
        "Letters for {whose} file are to be sent to {}.",
        "A field visit for {whose} home was made to {}.",
        "{Whose} address proof reads {}.",
        "Proof of {whose} stay at {} is attached.",
    ),
    "PINCODE": (
        "{Whose} area falls under PIN {}.",
        "Delivery to {whose} PIN code {} is available.",
        "{Whose} postal code was corrected to {}.",
        "PIN code {} was entered for {whose} area.",
    ),
    "PHONE": (
        "OTP was sent to {whose} number {}.",
        "{Whose} mobile {} was called back and confirmed.",
        "A missed call test on {} for {whose} line succeeded.",
        "{Whose} telephone number is {}.",
        "Messages will go to {whose} phone, {}.",
    ),
    "EMAIL": (
        "{Whose} e-mail {} has been verified.",
        "Soft copy of the form was sent to {whose} mailbox {}.",
        "Please use {} for {whose} correspondence.",
        "{Whose} statements will go to {}.",
    ),
    "AGE": (
        "{Whose} age is {} years.",
        "{Whose} age was found to be {} from the school certificate.",
        "{Whose} completed age is {}.",
        "As on the date of the form {whose} age stands at {} years.",
    ),
    "DATE_OF_BIRTH": (
        "{Whose} date of birth is {} as per the certificate.",
        "{Whose} birth date was verified as {}.",
        "The ID proof shows {whose} DOB as {}.",
        "{Whose} DOB ({}) matches the records.",
    ),
    "AADHAAR": (
        "{Whose} Aadhaar {} was verified by OTP.",
        "Offline e-KYC was done for {whose} Aadhaar number {}.",
        "A copy of {whose} Aadhaar ({}) is on file.",
        "Consent was given to use {} as {whose} Aadhaar.",
    ),
    "PAN": (
        "{Whose} PAN {} is active in the database.",
        "{Whose} PAN card shows {}.",
        "Form 60 is not needed as {whose} PAN is {}.",
        "PAN {} was quoted for {whose} investment.",
    ),
    "PASSPORT": (
        "{Whose} passport {} was produced in original.",
        "{Whose} passport bears number {}.",
        "Passport {} was accepted as {whose} proof of identity.",
        "A scan of {whose} passport, no. {}, is attached.",
    ),
    "VOTER_ID": (
        "{Whose} voter card {} was produced.",
        "EPIC {} was accepted as {whose} proof.",
        "{Whose} election card number is {}.",
        "The officer compared {whose} face with voter ID {}.",
    ),
    "DRIVING_LICENCE": (
        "{Whose} driving licence {} is valid.",
        "DL {} was produced as {whose} second proof.",
        "{Whose} licence number reads {}.",
        "The RTO site confirms {whose} licence {}.",
    ),
    "BANK_ACCOUNT": (
        "Payouts go to {whose} account {}.",
        "A cancelled cheque of {whose} account no. {} is attached.",
        "{Whose} savings account {} will be debited.",
        "The mandate covers {whose} bank account {}.",
    ),
    "IFSC": (
        "{Whose} branch has IFSC {}.",
        "The cheque leaf shows {} as {whose} IFSC.",
        "IFS code {} was filled in for {whose} bank.",
        "{Whose} IFSC was corrected to {}.",
    ),
    "UPI_ID": (
        "{Whose} UPI ID {} received the one rupee test.",
        "Refunds may be sent to {whose} VPA {}.",
        "{Whose} UPI handle is {}.",
        "The first premium came from {}, {whose} UPI address.",
    ),
    "CREDIT_CARD": (
        "Autopay is set on {whose} card {}.",
        "{Whose} credit card {} is linked.",
        "The fee was charged to {whose} card number {}.",
        "Card {} was used for {whose} first payment.",
    ),
    "IP_ADDRESS": (
        "The form was submitted online from {whose} IP {}.",
        "{Whose} device connected from {}.",
        "Login IP for {whose} session: {}.",
        "The system logged {} as {whose} IP address.",
    ),
    "URL": (
        "{Whose} profile is at {}.",
        "{Whose} web page {} was looked at.",
        "Occupation was checked on {whose} page {}.",
        "{Whose} business page: {}.",
    ),
}

COMBINED = (
    "I, {PERSON}, aged {AGE} years, residing at {ADDRESS}, state that the facts given are correct.",
    "{hon} {PERSON}, born on {DATE_OF_BIRTH}, has applied with Aadhaar {AADHAAR}.",
    "I, {PERSON}, holder of PAN {PAN}, ask for the update of my records.",
    "{hon} {PERSON} (mobile {PHONE}) lives at {ADDRESS}.",
    "Customer {PERSON} holds account {BANK_ACCOUNT} with IFSC {IFSC}.",
    "Identity of {PERSON} was established by passport {PASSPORT} and voter ID {VOTER_ID}.",
)

AGAIN = (
    (
        "{hon} {} visited the branch in person.",
        "{hon} {} has asked for a passbook by post.",
        "Original documents were returned to {hon} {}.",
        "The nominee form was explained to {hon} {}.",
        "{hon} {} is not a politically exposed person.",
        "Signature of {hon} {} differs a little from the old card.",
        "{hon} {} has opted for net banking.",
        "{hon} {} holds no other account with us.",
    ),
    (
        "{} prefers to be called in the evening.",
        "{} will bring the photographs next week.",
        "The old record was under the name {} only.",
        "The card may be embossed as {}.",
        "{} signs in Hindi.",
        "Short name for SMS: {}.",
        "{} was guided by the help desk.",
        "Relative at the counter confirmed that {} is abroad.",
    ),
)

ROLES = ("nominee", "guardian", "joint holder", "introducer", "witness", "power of attorney holder")
VOICES = (("the applicant's", "PERSON"), ("the customer's", "PERSON"))

STYLE = Style(
    skeletons=SKELETONS,
    sentences=SENTENCES,
    again=AGAIN,
    roles=ROLES,
    voices=VOICES,
    distractors=distractors.KYC_FORM,
    filler=filler.KYC_FORM,
    combined=COMBINED,
    labels=LABELS,
    in_fields=0.85,
)
