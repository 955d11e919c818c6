"""Medical notes: case sheets, discharge summaries, prescriptions, lab reports, referrals, claims."""

from __future__ import annotations

from pii.styles import distractors, filler
from pii.styles.style import Skeleton, Style

SKELETONS = (
    Skeleton(
        """DISCHARGE SUMMARY

{fields}

Course in hospital
{body}

Advice
{filler}""",
        upper=True,
    ),
    Skeleton(
        """OPD CARD
{fields}

C/o {filler}

Notes: {body}""",
        field="{label} - {value}",
    ),
    Skeleton(
        """Rx                      {date}

{fields}

{body}

{filler}

Review after 5 days""",
        field="{label}: {value}",
    ),
    Skeleton(
        """LABORATORY REPORT
Sample: blood, fasting
{fields}
--------------------------
{filler}
--------------------------
Comments: {body}""",
        field="{label} : {value}",
    ),
    Skeleton("""Referral letter

Dear colleague,

{body}

{filler}

Thank you for seeing this case.

{fields}"""),
    Skeleton(
        """PROGRESS NOTE {date} {time}
S: {body}
O: {filler}

Registration
{fields}""",
        field="[{label}: {value}]",
    ),
    Skeleton(
        """EMERGENCY DEPARTMENT TRIAGE SHEET
Colour code: YELLOW

{fields}

History
{body}

{filler}""",
        field="{label} => {value}",
        join="\n",
        sentence="- {text}",
    ),
    Skeleton(
        """रोगी पंजीकरण / PATIENT REGISTRATION

{fields}

{filler}

{body}""",
        field="{label}: {value}",
    ),
    Skeleton(
        """CASHLESS CLAIM PRE-AUTHORISATION

Section 1
{fields}

Section 2 (to be filled by the hospital)
{body}

Section 3
{filler}""",
        field="{n}) {label}: {value}",
        upper=True,
    ),
    Skeleton(
        """Nursing handover, night shift

{body}

{filler}

Bedside card
{fields}""",
        field="{label} {value}",
        join="\n",
        sentence="{n}. {text}",
    ),
    Skeleton("""MEDICAL FITNESS CERTIFICATE

{body}

{fields}

{filler}

Signature and seal"""),
    Skeleton(
        """Tele-consultation record
Start {time}

{filler}

{fields}

{body}

Call ended""",
        field="* {label}: {value}",
    ),
    Skeleton(
        """VACCINATION RECORD
| | |
{fields}

{body}

{filler}""",
        field="| {label} | {value} |",
    ),
    Skeleton(
        """Operation note

{filler}

{body}

ID band
{fields}""",
        field="{label}: {value}",
    ),
)

LABELS = {
    "PERSON": ("Patient", "Patient Name", "Name of patient", "Pt. name", "Name", "रोगी का नाम / Patient"),
    "OTHER": ("{Role}", "{Role} name", "Name of {role}", "{Role} present"),
    "ADDRESS": ("Address", "Residence", "R/o", "Patient address", "Home address"),
    "PINCODE": ("PIN", "Area PIN", "PIN code", "Pincode"),
    "PHONE": ("Mobile", "Contact", "Ph", "Phone no.", "Emergency contact no."),
    "EMAIL": ("Email", "E-mail for reports", "Mail id", "Report sent to"),
    "AGE": ("Age", "Age (yrs)", "Age in years", "आयु / Age"),
    "DATE_OF_BIRTH": ("DOB", "Date of birth", "D.O.B.", "Birth date"),
    "AADHAAR": ("Aadhaar", "Aadhaar no.", "UID (Aadhaar)", "ID proof (Aadhaar)", "आधार / Aadhaar"),
    "PAN": ("PAN", "PAN (for bill)", "Payer PAN", "PAN no."),
    "PASSPORT": ("Passport", "Passport no.", "Travel document (passport)", "Passport number"),
    "VOTER_ID": ("Voter ID", "EPIC no.", "ID proof (voter card)", "Voter card"),
    "DRIVING_LICENCE": ("Driving licence", "DL", "ID proof (DL)", "Licence no."),
    "BANK_ACCOUNT": ("Refund A/c", "Account no.", "Bank account for claim", "A/c no."),
    "IFSC": ("IFSC", "IFSC for claim", "Bank IFSC", "IFS code"),
    "UPI_ID": ("UPI", "Paid from UPI", "UPI ID", "VPA for refund"),
    "CREDIT_CARD": ("Card", "Deposit by card", "Card no.", "Card number"),
    "IP_ADDRESS": ("Tele-consult IP", "IP", "Session IP", "Device address (IP)"),
    "URL": ("Health page", "Profile link", "Patient portal page", "Web page"),
}

SENTENCES = {
    "PERSON": (
        "Patient {} came with fever and body ache.",
        "{hon} {} was admitted through casualty.",
        "This is to certify that {} is under my treatment.",
        "Seen and examined {}.",
        "Kindly attend to {} for further care.",
        "{} was brought in by ambulance.",
        "{hon} {} is a known diabetic.",
    ),
    "OTHER": (
        "History was given by the {role} {}.",
        "{} ({role}) gave consent for the procedure.",
        "The {role}, {}, stays with the patient.",
        "Explained the risks to {hon} {}, {role}.",
        "Discussed with {}, the {role}.",
    ),
    "ADDRESS": (
        "{Whose} home is at {}.",
        "Resident of {}.",
        "The home care nurse will visit {}.",
        "Medicines are to be delivered to {}.",
        "{Whose} address is noted as {}.",
    ),
    "PINCODE": (
        "{Whose} area PIN is {}.",
        "Dengue cases are reported from PIN {}.",
        "Home collection is available at PIN code {}.",
        "{Whose} PIN code was noted as {}.",
    ),
    "PHONE": (
        "{Whose} contact number is {}.",
        "In an emergency call {}.",
        "Reports will be sent on WhatsApp to {}.",
        "{Whose} phone {} was not reachable.",
        "Follow-up by phone on {}.",
    ),
    "EMAIL": (
        "Reports were mailed to {}.",
        "{Whose} e-mail is {}.",
        "The scan was shared with {}.",
        "{Whose} discharge papers go to {}.",
    ),
    "AGE": (
        "{Whose} age is {} years.",
        "{Whose} age ({} years) raises the risk of surgery.",
        "For {whose} age of {} the dose is halved.",
        "{Whose} stated age is {}.",
    ),
    "DATE_OF_BIRTH": (
        "{Whose} date of birth is {}.",
        "{Whose} wrist band shows DOB {}.",
        "The vaccination card gives {whose} birth date as {}.",
        "{Whose} DOB {} was checked before transfusion.",
    ),
    "AADHAAR": (
        "{Whose} Aadhaar {} was taken for registration.",
        "Ayushman card was made with {whose} Aadhaar {}.",
        "{Whose} Aadhaar number is {}.",
        "Aadhaar {} was seen at {whose} admission.",
    ),
    "PAN": (
        "{Whose} PAN {} is needed for the bill.",
        "The receipt carries {whose} PAN {}.",
        "{Whose} PAN is {}.",
        "PAN {} was given for {whose} cash deposit.",
    ),
    "PASSPORT": (
        "{Whose} passport is {}.",
        "The fit-to-fly note names {whose} passport {}.",
        "{Whose} passport {} was copied for the visa unit.",
        "Vaccination is certified against passport {}.",
    ),
    "VOTER_ID": (
        "{Whose} voter card {} was accepted as proof.",
        "{Whose} EPIC number is {}.",
        "The scheme desk noted {whose} voter ID {}.",
        "Voter ID {} was shown at {whose} admission.",
    ),
    "DRIVING_LICENCE": (
        "{Whose} driving licence {} was found by the police.",
        "Fitness is certified for {whose} licence {}.",
        "{Whose} DL number is {}.",
        "DL {} was recorded in {whose} accident register.",
    ),
    "BANK_ACCOUNT": (
        "The claim will be paid to {whose} account {}.",
        "{Whose} refund goes to A/c {}.",
        "{Whose} bank account number is {}.",
        "The insurer holds account {} on {whose} file.",
    ),
    "IFSC": (
        "{Whose} bank has IFSC {}.",
        "The claim form lists {whose} IFSC as {}.",
        "IFSC {} was added to {whose} claim.",
        "{Whose} branch code for the refund is {}.",
    ),
    "UPI_ID": (
        "The fee came from {whose} UPI {}.",
        "Refund the advance to {whose} UPI ID {}.",
        "{Whose} UPI handle is {}.",
        "Pharmacy bill paid by {}.",
    ),
    "CREDIT_CARD": (
        "The deposit was paid with {whose} card {}.",
        "{Whose} card {} was swiped at the desk.",
        "The balance is held on {whose} card number {}.",
        "Card {} is on {whose} billing file.",
    ),
    "IP_ADDRESS": (
        "{Whose} video call came from IP {}.",
        "Consent was clicked from {}.",
        "{Whose} pacemaker monitor reports from {}.",
        "The portal logged {} as {whose} address.",
    ),
    "URL": (
        "{Whose} health record is at {}.",
        "{Whose} images can be seen at {}.",
        "Details of {whose} work: {}.",
        "The family keeps a page at {}.",
    ),
}

COMBINED = (
    "{PERSON}, {AGE} years old, resident of {ADDRESS}, presented with chest pain.",
    "{hon} {PERSON} (born {DATE_OF_BIRTH}) was seen today.",
    "Pt. {PERSON}, {AGE} yrs, contact {PHONE}.",
    "{PERSON} was registered with Aadhaar {AADHAAR}, phone {PHONE}.",
    "{PERSON}, {AGE} y, c/o headache for 2 weeks.",
    "The reports of {PERSON} go to {EMAIL}.",
)

AGAIN = (
    (
        "{hon} {} tolerated the procedure well.",
        "{hon} {} was advised rest.",
        "Plan was explained to {hon} {}.",
        "{hon} {} denies any allergy.",
        "{hon} {} slept well at night.",
        "Blood pressure of {hon} {} is stable.",
        "{hon} {} walks without support.",
        "Diet chart given to {hon} {}.",
    ),
    (
        "{} complains of mild pain.",
        "The family calls the patient {}.",
        "{} is eating better today.",
        "Asked {} to stop smoking.",
        "{} answers to name and is oriented.",
        "{} did 10 minutes of exercise.",
        "Sister on duty will watch {} closely.",
        "{} wants to go home.",
    ),
)

ROLES = ("attendant", "consultant", "donor", "caregiver", "next of kin", "proposer")
VOICES = (("the patient's", "PERSON"), ("patient's", "PERSON"))

STYLE = Style(
    skeletons=SKELETONS,
    sentences=SENTENCES,
    again=AGAIN,
    roles=ROLES,
    voices=VOICES,
    distractors=distractors.MEDICAL_NOTE,
    filler=filler.MEDICAL_NOTE,
    combined=COMBINED,
    labels=LABELS,
    in_fields=0.6,
)
