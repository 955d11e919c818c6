"""Chats between a customer and an agent: support windows, messengers, SMS threads, call transcripts."""

from __future__ import annotations

from pii.styles import distractors, filler
from pii.styles.style import Skeleton, Style

SKELETONS = (
    Skeleton("{body}", sentence="{who}: {text}", join="\n", speakers=("Customer", "Agent")),
    Skeleton(
        "Chat started at {time}\n\n{body}\n\nChat ended",
        sentence="[{time}] {who}: {text}",
        join="\n",
        speakers=("User", "Support"),
    ),
    Skeleton("{date}\n{body}", sentence="{time} {who}: {text}", join="\n", speakers=("Me", "Helpdesk")),
    Skeleton(
        "--- transcript of recorded call ---\n{body}\n--- end ---",
        sentence="{who}> {text}",
        join="\n",
        speakers=("caller", "executive"),
    ),
    Skeleton("#support-channel\n\n{body}", sentence="@{who} {text}", join="\n", speakers=("client", "bot")),
    Skeleton("{body}", sentence="{who} ({time})\n{text}", join="\n", speakers=("You", "Care Team")),
    Skeleton(
        "Ticket opened via app on {date}\n{body}\nTicket status: open",
        sentence="* {who}: {text}",
        join="\n",
        speakers=("customer", "assistant"),
    ),
    Skeleton("{body}", sentence="{who}\t{text}", join="\n", speakers=("C", "A")),
    Skeleton("SMS thread, {date}\n\n{body}", sentence="{who}: {text}", join="\n", speakers=("IN", "OUT")),
    Skeleton(
        "{body}\n\nHow did we do? Rate this chat from 1 to 5.",
        sentence="<{who}> {text}",
        join="\n",
        speakers=("guest", "agent"),
    ),
    Skeleton(
        "व्हाट्सऐप / WhatsApp chat of {date}\n{body}", sentence="{who}: {text}", join="\n", speakers=("Grahak", "Sahayak")
    ),
    Skeleton(
        "Queue time 4 minutes\n\n{body}\n\n{filler}",
        sentence="{who} - {text}",
        join="\n",
        speakers=("Visitor", "Operator"),
    ),
    Skeleton("{body}", sentence="{n} {who}: {text}", join="\n", speakers=("CUST", "CSR")),
    Skeleton(
        "== LIVE CHAT ==\n{body}\n\nSummary by agent\n{fields}",
        field="{label}: {value}",
        sentence="{who}: {text}",
        join="\n",
        speakers=("Q", "R"),
    ),
    Skeleton("{body}", sentence="{who}:\n  {text}", join="\n\n", speakers=("Buyer", "Seller support")),
)

LABELS = {
    "PERSON": ("name", "customer", "caller", "Name given"),
    "OTHER": ("{role}", "{Role} name", "name of {role}", "{role} (given)"),
    "ADDRESS": ("addr", "deliver to", "Address given", "address"),
    "PINCODE": ("pin", "pincode", "PIN given", "pin code"),
    "PHONE": ("mob", "call back on", "Phone given", "phone"),
    "EMAIL": ("mail", "email", "Email given", "mail id"),
    "AGE": ("age", "age (yrs)", "Age given", "years"),
    "DATE_OF_BIRTH": ("dob", "birth date", "DOB given", "born"),
    "AADHAAR": ("aadhaar", "uid", "Aadhaar given", "aadhar no"),
    "PAN": ("pan", "PAN given", "pan card", "pan no"),
    "PASSPORT": ("passport", "Passport given", "passport no", "ppt"),
    "VOTER_ID": ("voter id", "epic", "EPIC given", "voter card"),
    "DRIVING_LICENCE": ("dl", "licence", "DL given", "driving licence"),
    "BANK_ACCOUNT": ("a/c", "account", "Account given", "bank a/c"),
    "IFSC": ("ifsc", "IFSC given", "branch code", "ifs code"),
    "UPI_ID": ("upi", "vpa", "UPI given", "upi id"),
    "CREDIT_CARD": ("card", "card no", "Card given", "cc"),
    "IP_ADDRESS": ("ip", "client ip", "IP seen", "from ip"),
    "URL": ("link", "url", "profile", "Link given"),
}

SENTENCES = {
    "PERSON": (
        "My name is {}.",
        "Hi, this is {} here.",
        "{} speaking, I need some help.",
        "A> Am I talking to {}?",
        "A> I see the account of {hon} {}, is that you?",
        "I am {} and I have a problem with my account.",
        "mera naam {} hai",
        "You can put the name as {}",
        "A> Welcome {}, how may I help you today?",
    ),
    "OTHER": (
        "Please also add my {role} {}.",
        "{} is my {role}.",
        "My {role}, {}, will pick it up",
        "A> And the name of your {role} is {}, correct?",
        "Talk to {}, my {role}, if I am away.",
    ),
    "ADDRESS": (
        "{Whose} address is {}.",
        "Please deliver to {}",
        "A> Is the address on file still {}?",
        "{whose} place: {}",
        "We have shifted. New address for {whose} file: {}.",
        "ghar ka pata {} hai",
    ),
    "PINCODE": (
        "{whose} pin code is {}",
        "Do you deliver to {whose} area, pin {}?",
        "A> I have {whose} PIN code as {}.",
        "{Whose} PIN is {} only.",
    ),
    "PHONE": (
        "{Whose} number is {}.",
        "Call me on {} please.",
        "A> I am sending an OTP to {}, please wait.",
        "{whose} whatsapp no {}",
        "You can reach {whose} mobile at {} after six.",
        "The SIM in question is {}, {whose} number.",
    ),
    "EMAIL": (
        "{Whose} mail id is {}.",
        "Please send it to {}",
        "A> The copy will be sent to {}.",
        "drop it at {}, that is {whose} mail",
        "A> {Whose} registered e-mail is {}, right?",
    ),
    "AGE": (
        "{Whose} age is {}.",
        "{whose} age {} yrs, is the plan ok for that?",
        "A> So {whose} age is {} years?",
        "On the form {whose} age is {}, please check",
    ),
    "DATE_OF_BIRTH": (
        "{Whose} date of birth is {}.",
        "{whose} dob {}",
        "A> To verify: {whose} birth date is {}, yes?",
        "You have {whose} DOB wrong, it is {}.",
        "{whose} birthday is {} if you need it",
    ),
    "AADHAAR": (
        "{Whose} Aadhaar is {}.",
        "aadhar no {}, that is {whose} card",
        "A> I have noted {whose} Aadhaar as {}.",
        "The number on {whose} Aadhaar card is {}",
        "Pls link {whose} aadhaar {}",
    ),
    "PAN": (
        "{Whose} PAN is {}.",
        "pan card {} (that is {whose} PAN)",
        "A> Please confirm {whose} PAN {}.",
        "Why was {whose} PAN {} rejected?",
        "it says {whose} pan {} is not linked",
    ),
    "PASSPORT": (
        "{Whose} passport number is {}.",
        "passport {}, please update {whose} booking",
        "A> {Whose} passport {} is about to expire.",
        "I typed {} for {whose} passport",
    ),
    "VOTER_ID": (
        "{Whose} voter ID is {}.",
        "epic no. {}, {whose} card",
        "A> I found {whose} voter card {}.",
        "Can I use {whose} voter card {} as proof?",
    ),
    "DRIVING_LICENCE": (
        "{Whose} driving licence is {}.",
        "DL number {}, {whose} licence",
        "A> The licence {} is on {whose} profile.",
        "I uploaded {whose} DL {} yesterday",
    ),
    "BANK_ACCOUNT": (
        "{Whose} account number is {}.",
        "money was cut from {whose} a/c {}",
        "A> The refund went to {whose} account {}.",
        "Please credit {}, {whose} savings account.",
        "a/c no {} hai, {whose} bank account",
    ),
    "IFSC": (
        "{Whose} IFSC is {}.",
        "ifsc code {}, {whose} branch",
        "A> I need to check {whose} IFSC {}.",
        "The app does not take {whose} IFSC {}",
    ),
    "UPI_ID": (
        "{Whose} UPI is {}.",
        "send it to {whose} upi {}",
        "A> The collect request was sent to {}.",
        "I paid from {}, {whose} UPI id.",
        "gpay on {whose} id {}",
    ),
    "CREDIT_CARD": (
        "{Whose} card number is {}.",
        "card {} got declined, it is {whose} card",
        "A> Is {} the card you want to block?",
        "Please block {whose} card {} now!",
        "I was charged twice on {whose} card {}",
    ),
    "IP_ADDRESS": (
        "{Whose} IP is {}.",
        "it shows ip {} on {whose} router",
        "A> I see a login from {}, was that you?",
        "Can you whitelist {}, {whose} home IP?",
    ),
    "URL": (
        "{Whose} profile is {}.",
        "see {}, that is {whose} page",
        "A> Is {} {whose} page?",
        "The link {} on {whose} account is broken",
    ),
}

COMBINED = (
    "{PERSON} here, mobile {PHONE}.",
    "I am {PERSON}, {AGE} years old, from {ADDRESS}.",
    "Name {PERSON}, DOB {DATE_OF_BIRTH}, Aadhaar {AADHAAR}",
    "my a/c {BANK_ACCOUNT} ifsc {IFSC}, name {PERSON}",
    "A> Thanks. So {PERSON}, PAN {PAN}, correct?",
    "pay {PERSON} at {UPI_ID} or call {PHONE}",
    "{PERSON}, {EMAIL}, pin {PINCODE}",
)

AGAIN = (
    (
        "A> Thank you, {hon} {}.",
        "A> Please stay on the line, {hon} {}.",
        "A> Sorry for the trouble, {hon} {}.",
        "A> Is there anything else, {hon} {}?",
        "A> {hon} {}, your request is registered.",
        "A> I understand, {hon} {}.",
        "A> One moment please, {hon} {}.",
        "It should say {hon} {} on the card.",
    ),
    (
        "A> All done, {}!",
        "A> May I call you {}?",
        "A> Have a nice day, {}.",
        "just {} is fine",
        "A> {} ji, please check now.",
        "Everyone calls me {}",
        "A> {}, can you see the message?",
        "the sms says Hi {} so it is for me",
    ),
)

ROLES = ("brother", "sister", "father", "mother", "manager", "neighbour", "friend")
VOICES = (("my", "PERSON"),)

STYLE = Style(
    skeletons=SKELETONS,
    sentences=SENTENCES,
    again=AGAIN,
    roles=ROLES,
    voices=VOICES,
    distractors=distractors.CHAT,
    filler=filler.CHAT,
    combined=COMBINED,
    labels=LABELS,
    in_fields=0.4,
)
