"""What answers that try to be paid without doing the work are worth: `python -m pii.shortcuts` prints the table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pii.answer import MAX_ITEMS, render
from pii.document import Document, Mention
from pii.prompt import EXAMPLE_ANSWER
from pii.reward import WEIGHTS, score

EXAMPLE = Document(
    text="""Customer record, Meridian Traders Pvt. Ltd., Pune branch. Order 7781-2290 of 12 March 2019.
Name: Shri Rajesh Kumar Sharma. Mobile: +91 98765 43210. Email: rajesh.sharma@example.in
Aadhaar: 2341 2341 2346. PAN: ABCPS1234K. A/c no. 30124567891, IFSC SBIN0001234.
Address: 14, Lake View Road, Pune 411001.
Rajesh has banked with us since the Diwali Mela. His wife, Sunita Sharma, is the nominee.""",
    gold=[
        Mention("Rajesh Kumar Sharma", "PERSON", 0),
        Mention("+91 98765 43210", "PHONE", 1),
        Mention("rajesh.sharma@example.in", "EMAIL", 2),
        Mention("2341 2341 2346", "AADHAAR", 3),
        Mention("ABCPS1234K", "PAN", 4),
        Mention("30124567891", "BANK_ACCOUNT", 5),
        Mention("SBIN0001234", "IFSC", 6),
        Mention("14, Lake View Road, Pune 411001", "ADDRESS", 7),
        Mention("Rajesh", "PERSON", 0),
        Mention("Sunita Sharma", "PERSON", 8),
    ],
    key="example",
)

WRONG_IN_DOCUMENT = ("Meridian Traders Pvt. Ltd.", "7781-2290", "12 March 2019", "Diwali Mela")
INVENTED = ("Devendra Solanki", "Kiran Rao", "Lata Pillai", "Om Dutt")


def shortcuts(document: Document) -> dict[str, str]:
    """Name of a shortcut -> the completion that takes it, for a document with at least ten mentions."""
    gold = document.gold
    words = document.text.split()
    one_span = " or ".join(mention.text for mention in gold)
    invented = Mention(INVENTED[0], "PERSON", 99)
    as_found = {
        "the truth": gold,
        "nothing": [],
        "one sure hit": gold[1:2],
        "four right": gold[:4],
        "four right, four wrong from the document": [*gold[:4], *_persons(WRONG_IN_DOCUMENT)],
        "four right, four invented": [
            *gold[:4],
            *_persons(["Devendra Solanki", "Kiran Rao", "Lata Pillai", "Om Dutt"]),
        ],
        "every capitalised word": _persons([word for word in words if word[:1].isupper()]),
        "every word": _persons(words),
        "the whole document as one span": [Mention(document.text, "PERSON", 0)],
        "the whole document, once a mention": [mention._replace(text=document.text) for mention in gold],
        "each gold string twice": [mention for mention in gold for _ in range(2)],
        "`A or B or C` as one span": [Mention(one_span, "PERSON", 0)],
        "`A or B or C`, once a mention": [mention._replace(text=one_span) for mention in gold],
        "right texts, one constant type": [mention._replace(type="PERSON") for mention in gold],
        "all one entity_id": [mention._replace(entity_id=0) for mention in gold],
        "every mention its own id": [mention._replace(entity_id=i) for i, mention in enumerate(gold)],
        "the truth and an invented name": [*gold, invented],
        "an invented name": [invented],
        "the prompt's example": list(EXAMPLE_ANSWER),
    }
    answers = {name: render(mentions[:MAX_ITEMS]) for name, mentions in as_found.items()}
    return answers | {"the truth in a code fence": f"```json\n{answers['the truth']}\n```"}


def _persons(texts: Sequence[str]) -> list[Mention]:
    return [Mention(re.sub(r"\s+", " ", text), "PERSON", (10 + i) % 100) for i, text in enumerate(texts)]


def table() -> str:
    """A Markdown table of the example document's rewards and parts."""
    lines = [
        "| answer | reward | " + " | ".join(WEIGHTS) + " |",
        "|---|" + "---|" * (1 + len(WEIGHTS)),
    ]
    for name, completion in shortcuts(EXAMPLE).items():
        found = score(EXAMPLE.text, EXAMPLE.gold, completion)
        cells = [
            f"{found.reward:.3f}",
            *(f"{found.parts[part]:.3f}" if part in found.parts else "-" for part in WEIGHTS),
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
