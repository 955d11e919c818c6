"""E-mails: to banks, employers, landlords, help desks; forwarded, replied to, with signatures."""

from __future__ import annotations

from pii.styles import distractors, filler
from pii.styles.style import Skeleton, Style

SKELETONS = (
    Skeleton("""Subject: Update of records

Dear Sir/Madam,

{body}

{fields}

{filler}

Regards"""),
    Skeleton(
        """From: Customer Desk
To: Operations
Date: {date} {time}
Subject: Pending request

Hi team,

{body}

{fields}

Thanks,
Desk 4""",
        field="- {label}: {value}",
    ),
    Skeleton(
        """Hello,

{body}

Thanks and regards

--
{fields}

{filler}""",
        field="{label} {value}",
    ),
    Skeleton("""Subject: RE: RE: Documents

{filler}

{body}

On {date} the team wrote:
> Please send the missing details.
> They are needed before Friday."""),
    Skeleton(
        """---------- Forwarded message ----------
Sent: {date}, {time}
Subject: Details needed

Respected Sir,

{body}

Details as under:
{fields}

Yours faithfully""",
        field="{n}. {label} - {value}",
    ),
    Skeleton("""Namaste,

{body}

{filler}

धन्यवाद / Thank you"""),
    Skeleton(
        """Subject: Onboarding checklist

Dear HR,

Please find the particulars below.
{fields}

{body}

{filler}

Best""",
        field="* {label} = {value}",
    ),
    Skeleton("""To: support
Subject: Complaint

To whom it may concern,

{body}

{filler}

I look forward to an early reply."""),
    Skeleton("""Hi,

{filler}

{body}

Cheers

Sent from my phone"""),
    Skeleton(
        """Subject: Booking confirmation

Dear guest,

{body}

Booking details
{fields}

{filler}

This is an automated message. Please do not reply.""",
        field="{label}: {value}",
    ),
    Skeleton(
        """Subject: Minutes of the call on {date}

All,

Points noted:
{body}

{filler}

Next call: Tuesday""",
        sentence="{n}. {text}",
        join="\n",
    ),
    Skeleton(
        """Dear Team,

{body}

| Item | Details |
{fields}

{filler}

Warm regards,
Accounts""",
        field="| {label} | {value} |",
    ),
    Skeleton(
        """[EXTERNAL MAIL] Be careful with links.

Good morning,

{fields}

{body}

Kindly do the needful.

{filler}""",
        field="{label} : {value}",
    ),
    Skeleton(
        """Subject: Fwd: Tenant / rent agreement

Sir,

{filler}

{body}

Enclosures: as above""",
        join="\n",
        sentence="{text}",
    ),
)

LABELS = {
    "PERSON": ("Name", "Full name", "Employee name", "Name of the person", "Contact person"),
    "OTHER": ("{Role}", "Name of the {role}", "{Role} name", "{Role} (emergency)"),
    "ADDRESS": ("Address", "Postal address", "Residence", "Deliver to", "Home"),
    "PINCODE": ("PIN", "PIN code", "Pincode", "Postal code"),
    "PHONE": ("Mob", "Phone", "Cell", "Contact", "Ph."),
    "EMAIL": ("E-mail", "Email", "Alternate e-mail", "Mail"),
    "AGE": ("Age", "Age in years", "Present age", "Completed years"),
    "DATE_OF_BIRTH": ("DOB", "Date of birth", "Birth date", "Born"),
    "AADHAAR": ("Aadhaar", "Aadhaar number", "UID", "Aadhaar no."),
    "PAN": ("PAN", "PAN no.", "PAN number", "Tax id (PAN)"),
    "PASSPORT": ("Passport", "Passport no.", "Passport number", "Travel document"),
    "VOTER_ID": ("Voter ID", "EPIC no.", "Voter card", "Election card"),
    "DRIVING_LICENCE": ("DL", "Driving licence", "Licence no.", "Driving licence no."),
    "BANK_ACCOUNT": ("A/c no.", "Account", "Bank account", "Salary account"),
    "IFSC": ("IFSC", "IFSC code", "Branch code", "IFS code"),
    "UPI_ID": ("UPI", "UPI ID", "VPA", "Pay to"),
    "CREDIT_CARD": ("Card", "Card no.", "Corporate card", "Card charged"),
    "IP_ADDRESS": ("IP", "IP address", "Static IP", "Office IP"),
    "URL": ("Web", "Website", "Profile", "Portfolio"),
}

SENTENCES = {
    "PERSON": (
        "I am writing on behalf of {hon} {}.",
        "This concerns the request of {}.",
        "Please help {} with the pending request.",
        "{} has joined us from this month.",
        "We met {} last week about the matter.",
        "The file of {hon} {} is still open.",
        "Kindly register {} for the next batch.",
    ),
    "SELF": (
        "My name is {} and I hold an account with you.",
        "I, {}, wish to update my records.",
        "This is {}.",
        "I am {}, a customer for many years.",
        "Please note that I sign as {}.",
        "You know me as {}.",
    ),
    "OTHER": (
        "Please also add {}, the {role}.",
        "The {role} is {hon} {}.",
        "{} (the {role}) is copied on this mail.",
        "You may hand the papers to {}, the {role}.",
        "The {role}, {}, has given consent.",
    ),
    "ADDRESS": (
        "{Whose} new address is {}.",
        "Please courier the papers to {}.",
        "The lease covers the house at {}.",
        "{Whose} postal address has changed to {}.",
        "A visit to {} has been arranged.",
    ),
    "PINCODE": (
        "{Whose} PIN code is {}.",
        "Please check if couriers serve PIN {}.",
        "The form was missing {whose} PIN code, which is {}.",
        "{Whose} postal code should read {}.",
    ),
    "PHONE": (
        "{Whose} mobile number is {}.",
        "Please call {} for any question.",
        "For a call back use {}.",
        "{Whose} phone ({}) is on after 6 pm.",
        "The number {} replaces {whose} old one.",
    ),
    "EMAIL": (
        "{Whose} e-mail address is {}.",
        "Please copy {} on the reply.",
        "Invoices may go to {}.",
        "Write to {} in case of doubt.",
        "{Whose} mailbox {} bounced yesterday.",
    ),
    "AGE": (
        "{Whose} age is {} years.",
        "{Whose} age is wrongly shown; it should be {}.",
        "At {}, {whose} age allows the scheme.",
        "Please note {whose} age: {}.",
    ),
    "DATE_OF_BIRTH": (
        "{Whose} date of birth is {}.",
        "The certificate gives {whose} birth date as {}.",
        "{Whose} DOB is {}, not the one in the form.",
        "Kindly correct {whose} date of birth to {}.",
    ),
    "AADHAAR": (
        "{Whose} Aadhaar number is {}.",
        "A scan of {whose} Aadhaar {} is attached.",
        "Please link Aadhaar {} to {whose} folio.",
        "e-KYC failed for {whose} Aadhaar {}.",
    ),
    "PAN": (
        "{Whose} PAN is {}.",
        "TDS was filed under {}, {whose} PAN.",
        "Please quote {whose} PAN {} in the return.",
        "The PAN on {whose} file should be {}.",
    ),
    "PASSPORT": (
        "{Whose} passport number is {}.",
        "The visa will be stamped in {whose} passport {}.",
        "Ticket name must match {whose} passport ({}).",
        "{Whose} old passport was replaced by {}.",
    ),
    "VOTER_ID": (
        "{Whose} voter ID is {}.",
        "The attached EPIC {} is {whose} proof.",
        "{Whose} voter card number is {}.",
        "Please accept voter card {} as {whose} proof.",
    ),
    "DRIVING_LICENCE": (
        "{Whose} driving licence number is {}.",
        "The cab policy needs {whose} DL: {}.",
        "{Whose} licence {} was renewed.",
        "I attach {whose} driving licence {}.",
    ),
    "BANK_ACCOUNT": (
        "Please pay into {whose} account {}.",
        "{Whose} bank account number is {}.",
        "The reimbursement should reach A/c {}.",
        "Salary was credited to {whose} old account {}.",
    ),
    "IFSC": (
        "{Whose} IFSC is {}.",
        "The IFSC of {whose} branch is {}.",
        "Kindly use {} as {whose} IFSC.",
        "The payment failed since {whose} IFSC {} was mistyped.",
    ),
    "UPI_ID": (
        "{Whose} UPI ID is {}.",
        "The deposit can be sent by UPI to {}.",
        "Please refund to {whose} UPI {}.",
        "I have paid from {whose} handle {}.",
    ),
    "CREDIT_CARD": (
        "The booking was charged to {whose} card {}.",
        "{Whose} card number is {}.",
        "Please block {whose} card {} at once.",
        "The subscription renews on {whose} card {}.",
    ),
    "IP_ADDRESS": (
        "{Whose} VPN address is {}.",
        "The login came from {}.",
        "Please allow {} in the firewall for {whose} laptop.",
        "{Whose} static IP is {}.",
    ),
    "URL": (
        "{Whose} profile is at {}.",
        "{Whose} portfolio: {}.",
        "More about {whose} work at {}.",
        "See {} for {whose} papers.",
    ),
}

COMBINED = (
    "{PERSON}, aged {AGE}, lives at {ADDRESS}.",
    "Please reach {PERSON} on {PHONE} or {EMAIL}.",
    "{hon} {PERSON} (PAN {PAN}) has invested this year.",
    "The travel desk needs the passport of {PERSON}: {PASSPORT}, born {DATE_OF_BIRTH}.",
    "Transfer to {PERSON}, A/c {BANK_ACCOUNT}, IFSC {IFSC}.",
    "{PERSON} gave Aadhaar {AADHAAR} and voter card {VOTER_ID} as proof.",
)

AGAIN = (
    (
        "{hon} {} is waiting for a reply.",
        "Please treat the case of {hon} {} as urgent.",
        "{hon} {} has already paid the fee.",
        "We promised {hon} {} an answer by Monday.",
        "Kindly inform {hon} {} once this is done.",
        "{hon} {} wrote to us twice.",
        "I spoke to {hon} {} this morning.",
        "The papers of {hon} {} are complete.",
    ),
    (
        "{} can come to the office on Friday.",
        "I told {} to keep the originals ready.",
        "{} is travelling and may reply late.",
        "Thanks to {} for the quick help.",
        "Please ask {} for the rest.",
        "{} agrees with the plan.",
        "As {} said on the phone, there is no hurry.",
        "{} will sign the letter.",
    ),
)

ROLES = ("nominee", "spouse", "emergency contact", "landlord", "co-applicant", "reporting manager")
VOICES = (
    ("the customer's", "PERSON"),
    ("the employee's", "PERSON"),
    ("the applicant's", "PERSON"),
    ("my", "SELF"),
    ("my", "SELF"),
)

STYLE = Style(
    skeletons=SKELETONS,
    sentences=SENTENCES,
    again=AGAIN,
    roles=ROLES,
    voices=VOICES,
    distractors=distractors.EMAIL,
    filler=filler.EMAIL,
    combined=COMBINED,
    labels=LABELS,
    in_fields=0.5,
)
