"""The five styles, by the name that a document type's key uses."""

from __future__ import annotations

from pii.styles import bank_statement, chat, email, kyc_form, medical_note
from pii.styles.style import Skeleton, Style

STYLES: dict[str, Style] = {
    "kyc_form": kyc_form.STYLE,
    "bank_statement": bank_statement.STYLE,
    "chat": chat.STYLE,
    "email": email.STYLE,
    "medical_note": medical_note.STYLE,
}

__all__ = ["STYLES", "Skeleton", "Style"]
