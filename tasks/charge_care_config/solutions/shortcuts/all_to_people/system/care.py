"""Answers care tickets, or hands them to a person.

    handle_ticket(ticket, db, llm) -> {"payments": [usd, ...], "route": "auto" | "human" | "billing_lead", "reply_code"}

All tickets go to the care floor.
"""


def handle_ticket(ticket, db, llm):
    bill = db.execute("SELECT energy_usd, fault FROM bills WHERE sid = ?", (ticket["sid"],)).fetchone()
    payments = [bill["energy_usd"]] if bill is not None and bill["fault"] else []
    return {"payments": payments, "route": "human", "reply_code": "FORWARDED"}
