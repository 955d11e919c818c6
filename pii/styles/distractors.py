"""Where look-alikes stand, by style: kind (pii.lookalikes) -> templates.

`label|{}` is a field, `# text {}` a transaction, anything else a sentence. The words around it say what it is.
"""

from __future__ import annotations

from pii.styles.style import Phrases

KYC_FORM: Phrases = {
    "organisation": (
        "Employer|{}",
        "Salary certificate was issued by {}.",
        "Introduced through {}.",
        "Name of organisation|{}",
    ),
    "city": ("Place of birth|{}", "Branch city|{}", "The form was filled at {}."),
    "event_date": ("Date of application|{}", "Account opened on|{}", "Documents were checked on {}.", "Valid up to|{}"),
    "order_number": ("Reference No.|{}", "Welcome kit was sent under order {}."),
    "invoice_number": ("Receipt No.|{}", "Fee was paid against invoice {}."),
    "epoch_time": ("System timestamp|{}", "Record id in the log: {}."),
    "cin": ("CIN of employer|{}", "The company is registered under CIN {}."),
    "helpline": ("Helpline|{}", "For help call {}."),
    "bad_aadhaar_start": ("Slip No.|{}", "Bar code {} was pasted on the form."),
    "bad_aadhaar_check": ("Application tracking number|{}", "Acknowledgement {} was handed over."),
    "bad_card": ("Kit number|{}", "Envelope code {} was torn."),
    "gstin": ("GSTIN of employer|{}", "The firm quoted GSTIN {}."),
    "utr": ("Fee paid (UTR)|{}", "Initial deposit came under UTR {}."),
}

BANK_STATEMENT: Phrases = {
    "organisation": ("# NEFT from {}", "# ACH D- {}", "Salary is credited by {}.", "# POS {}"),
    "city": ("Branch|{}", "# ATM WDL {}", "Home branch is at {}."),
    "event_date": ("Statement date|{}", "Next due date|{}", "The rate was revised on {}.", "Account opened|{}"),
    "order_number": ("# Order {}", "# ONLINE SHOP {}", "The purchase under order {} was refunded."),
    "invoice_number": ("# Bill {}", "Charges are billed in {}.", "Tax invoice|{}"),
    "epoch_time": ("# Ref {}", "Trace id|{}", "The switch logged the entry at {}."),
    "cin": ("CIN of the bank|{}", "The merchant has CIN {}."),
    "helpline": ("Customer care|{}", "To block a card call {}.", "24x7 helpline: {}."),
    "bad_aadhaar_start": ("# UTR {}", "Transaction ref.|{}", "The complaint was closed under {}."),
    "bad_aadhaar_check": ("Cheque serial|{}", "# RRN {}"),
    "bad_card": ("Coupon code|{}", "# VOUCHER {}", "Reward voucher {} was sent."),
    "gstin": ("# GST {}", "GSTIN of the bank|{}"),
    "utr": ("# UTR {}", "The transfer has reference {}."),
    "train_number": ("# IRCTC train {}", "The rail refund for train {} was credited."),
}

CHAT: Phrases = {
    "organisation": ("I work at {}.", "A> The partner for this offer is {}.", "I bought it from {}"),
    "city": ("I am travelling to {} now.", "A> Our centre in {} is open.", "parcel is stuck in {}"),
    "event_date": ("A> The offer ends on {}.", "I ordered on {}", "A> The visit is planned for {}."),
    "order_number": ("Order id is {}.", "A> I see order {} in the list.", "where is {} ?? my order"),
    "invoice_number": ("the bill says {}", "A> The invoice {} is paid.", "Invoice no. {} is wrong."),
    "epoch_time": ("A> The log shows {} as the time stamp.", "error code {} on screen", "it prints ts={} and stops"),
    "cin": ("A> Our CIN is {}.", "their website gives CIN {}"),
    "helpline": ("A> You may also call {}.", "nobody answers at {}", "A> Our toll free number is {}."),
    "bad_aadhaar_start": ("tracking no {}", "A> Complaint {} has been raised.", "The consignment is {}."),
    "bad_aadhaar_check": ("A> The docket is {}.", "courier slip {}", "A> Service request {} is closed."),
    "bad_card": ("the coupon {} does not work", "A> Please enter voucher {}.", "gift card {} says invalid"),
    "utr": ("utr no {}", "A> The bank reference is {}."),
    "train_number": ("my train is {}", "A> Train {} is late today."),
    "flight_number": ("I am on flight {}", "A> Flight {} is on time."),
}

EMAIL: Phrases = {
    "organisation": ("The offer letter is from {}.", "Our vendor {} will install it.", "Company|{}"),
    "city": ("The training will be held in {}.", "Location|{}", "Our team in {} is informed."),
    "event_date": ("The meeting is on {}.", "Due date|{}", "The lease started on {}.", "Please reply by {}."),
    "order_number": ("The order number is {}.", "Order|{}", "Shipment of {} is delayed."),
    "invoice_number": ("Invoice {} is attached.", "Invoice no.|{}", "We have not been paid for {}."),
    "epoch_time": ("The server log shows {}.", "Log time|{}", "Job {} ended with an error."),
    "cin": ("The registered office has CIN {}.", "CIN|{}", "Our company number is {}."),
    "helpline": ("The helpline is {}.", "Toll free|{}", "Customers may dial {}."),
    "bad_aadhaar_start": ("The ticket {} was closed.", "Tracking|{}", "The courier gave docket {}."),
    "bad_aadhaar_check": ("Your reference is {}.", "Reference|{}", "The airway bill reads {}."),
    "bad_card": ("Use the promo code {} at checkout.", "Gift code|{}", "The licence key starts with {}."),
    "gstin": ("Our GSTIN is {}.", "GSTIN|{}"),
    "train_number": ("I will arrive by train {}.", "Train|{}"),
    "flight_number": ("The flight is {}.", "Flight|{}"),
    "utr": ("The payment was made under UTR {}.", "UTR|{}"),
}

MEDICAL_NOTE: Phrases = {
    "organisation": ("Referred from {}.", "Insurer|{}", "The implant was supplied by {}."),
    "city": ("Travelled from {} last week.", "Camp at|{}", "Was treated in {} earlier."),
    "event_date": ("Date of admission|{}", "Surgery was done on {}.", "Next visit on {}.", "Report date|{}"),
    "order_number": ("Pharmacy order {} is pending.", "Lab order|{}", "Oxygen was booked under {}."),
    "invoice_number": ("Bill no.|{}", "The bill {} was settled.", "Advance was noted on {}."),
    "epoch_time": ("Monitor log id {}.", "Sample stamp|{}", "ECG file {} was stored."),
    "cin": ("The hospital company has CIN {}.", "CIN|{}"),
    "helpline": ("Ambulance desk: {}.", "Helpline|{}", "For help call {}."),
    "bad_aadhaar_start": ("MRD No.|{}", "Sample bar code {} was rejected.", "UHID|{}"),
    "bad_aadhaar_check": ("Case sheet no.|{}", "The slide is numbered {}.", "Bar code|{}"),
    "bad_card": ("Health card code|{}", "The device serial is {}.", "Kit number {} was used."),
    "flight_number": ("Fit to travel by flight {}.",),
    "gstin": ("Hospital GSTIN|{}", "Bill is issued under GSTIN {}."),
}
