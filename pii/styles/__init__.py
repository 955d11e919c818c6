"""The five styles, by the name that a document type's key uses."""

from __future__ import annotations

from pii.styles.bank_statement import STYLE as BANK_STATEMENT
from pii.styles.chat import STYLE as CHAT
from pii.styles.email import STYLE as EMAIL
from pii.styles.kyc_form import STYLE as KYC_FORM
from pii.styles.medical_note import STYLE as MEDICAL_NOTE
from pii.styles.style import Style

STYLES: dict[str, Style] = {
    "kyc_form": KYC_FORM,
    "bank_statement": BANK_STATEMENT,
    "chat": CHAT,
    "email": EMAIL,
    "medical_note": MEDICAL_NOTE,
}
