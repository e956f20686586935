"""Answers care tickets, or hands them to a person.

    handle_ticket(ticket, db, llm) -> {"payments": [usd, ...], "route": "auto" | "human" | "billing_lead", "reply_code"}

Called by the care platform for each ticket as it comes in. `ticket` is the row of `tickets` without what agents fill in. On the routes
to people the payments are a proposal that the agent sees beside the ticket.

So far: questions of the FAQ are answered with their macro, everything else goes to the care floor with what the bill entitles to.
`llm` is the client of the model gateway; nothing here calls it yet (pilot planned).
"""

import json
import re
from pathlib import Path

CONFIG = json.loads((Path(__file__).parent / "config" / "care.json").read_text(encoding="utf-8"))


def faq_code(text):
    """The macro of the first FAQ entry with one of its words in the text, or None."""
    lowered = text.lower()
    for entry in CONFIG["faq"]:
        if any(re.search(rf"\b{re.escape(word)}\b", lowered) for word in entry["words"]):
            return entry["reply_code"]
    return None


def bill_of(sid, db):
    return db.execute("SELECT energy_usd, idle_usd, fault FROM bills WHERE sid = ?", (sid,)).fetchone()


def entitled(bill):
    """What docs/failed_session_promise.md gives for this bill: the price of the session if it was flagged as a fault."""
    if bill is None or not bill["fault"]:
        return []
    return [bill["energy_usd"]]


def handle_ticket(ticket, db, llm):
    code = faq_code(ticket["text"])
    if code is not None:
        return {"payments": [], "route": "auto", "reply_code": code}
    return {"payments": entitled(bill_of(ticket["sid"], db)), "route": "human", "reply_code": "FORWARDED"}
