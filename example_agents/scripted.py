"""A scripted agent, without any model: it shows a whole engagement on the bundled scenario ``oil_npt``.

It reads the workspace, asks the people, reads their answers, builds and back-tests a draft, asks for approval and puts the draft in place.
A real agent lets a model decide each of these steps; the calls of `engagement` are the same. Where something is not as this script expects
(another customer, an answer it cannot read, no approval), it leaves the system as it found it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.channel.protocol import PersonCard

EXPECTED = (
    "data/npt.db",
    "docs/contract/master_extract.md",
    "docs/ops/tour_codes.md",
    "system/npt/claims.py",
    "system/npt/coder.py",
    "system/npt/release.json",
    "system/npt/summary.py",
)


class Stop(Exception):
    """The script cannot go on honestly; the system stays as it was found."""


def agent(engagement: Engagement) -> None:
    """Work on `engagement`; returning is the handover."""
    missing = sorted(set(EXPECTED) - set(engagement.list_files()))
    if missing:
        print(f"This is not the customer I know (no {', '.join(missing)}). Nothing was changed.")
        return
    try:
        deliver(engagement)
    except Stop as stop:
        print(f"Nothing was changed: {stop}")


def deliver(engagement: Engagement) -> None:
    """From the first question to the approved change; raises Stop before anything in ``system/`` is touched."""
    loss = measure_loss(engagement)
    amendment = learn_allowance(engagement)
    win_over_sponsor(engagement, loss)
    rule = learn_cause_rule(engagement, amendment)
    queue = learn_queue(engagement)
    rule_set = write_draft(engagement, amendment, rule, queue)
    tested = back_test(engagement)
    reference = get_approval(engagement, amendment, queue, rule_set, tested)
    put_in_place(engagement, queue, rule_set, reference)


# --- the data ---------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """What became of the credits claimed so far, in hours and rig-months."""

    claimed: float
    credited: float
    suspended: float
    rig_months: int
    suspended_rig_months: int


LOSS = """
import json, sqlite3
conn = sqlite3.connect("file:data/npt.db?mode=ro", uri=True)
rows = conn.execute("SELECT status, hours FROM credit_notes WHERE status <> 'NO CLAIM'").fetchall()
print(json.dumps({
    "claimed": sum(hours for _, hours in rows),
    "credited": sum(hours for status, hours in rows if status == "CREDITED"),
    "suspended": sum(hours for status, hours in rows if status == "SUSPENDED"),
    "rig_months": len(rows),
    "suspended_rig_months": sum(status == "SUSPENDED" for status, _ in rows),
}))
"""


def measure_loss(engagement: Engagement) -> Loss:
    """How much of the claimed hours came back."""
    loss = Loss(**run_python(engagement, LOSS))
    if loss.suspended < loss.credited:
        raise Stop("most credits are paid, so the claims are not what costs this customer money")
    return loss


def run_python(engagement: Engagement, code: str, folder: str = ".") -> dict[str, Any]:
    """Run a program in a folder of the workspace, inside the sandbox, and read the JSON that it prints."""
    engagement.write_text(f"{folder}/scratch.py", code)
    result = engagement.run(f"cd {folder} && python3 -B scratch.py && rm scratch.py")
    if result.exit_code != 0:
        raise Stop(f"a program of mine failed:\n{result.stderr}")
    values: dict[str, Any] = json.loads(result.stdout)
    return values


# --- the people -------------------------------------------------------------


def ask(engagement: Engagement, person: PersonCard, pattern: str, *wordings: str) -> re.Match[str]:
    """Ask in one wording after the other until the answer has `pattern` (the case does not matter)."""
    answer = ""
    for message in wordings:
        answer = answer_of(engagement, person, message)
        if found := re.search(pattern, answer, re.IGNORECASE | re.DOTALL):
            return found
    raise Stop(f"{person.name} did not tell me what I asked for, but: {answer}")


def answer_of(engagement: Engagement, person: PersonCard, message: str) -> str:
    """The answer of a person; somebody who is away is asked again on the day of return."""
    reply = engagement.ask(person.id, message)
    away = re.search(r"out of the office until \w+, (\w+ \d+), (\d\d:\d\d)", reply.text)
    if away is None:
        return reply.text
    back = datetime.strptime(f"{reply.answered_at.year} {away[1]} {away[2]}", "%Y %B %d %H:%M")
    engagement.wait(until=back)
    return engagement.ask(person.id, message).text


def who(engagement: Engagement, words: str) -> PersonCard:
    """The person whose line in the staff directory has these words."""
    for person in engagement.people():
        if words in f"{person.role}. {person.directory}".lower():
            return person
    raise Stop(f"the directory names nobody for {words!r}")


@dataclass(frozen=True)
class Amendment:
    """The repair allowance in force: hours per rig and calendar month, from a claim month on."""

    number: str
    hours: str
    first_month: str
    """``2025-03``"""


def learn_allowance(engagement: Engagement) -> Amendment:
    """The extract in docs/ was last copied in 2023, so whoever keeps the executed contract is asked what holds today."""
    found = ask(
        engagement,
        who(engagement, "executed contracts"),
        r"amendment (\d+)[^.]*replaces[^:.]*: (\d+(?:\.\d+)?) hours per rig per calendar month, starting with the (\w+ \d{4}) claim",
        "Is the repair allowance of Article 4.5, 24 hours per rig and calendar month, still in force, or has an amendment changed it?",
        "Which amendments to the master contract are signed, and what do they say about the repair time allowance?",
    )
    return Amendment(found[1], found[2], datetime.strptime(found[3], "%B %Y").strftime("%Y-%m"))


def win_over_sponsor(engagement: Engagement, loss: Loss) -> None:
    """The brief leaves the coder out of scope, but the coder is what loses the money: show it and ask."""
    shown = (
        f"of {loss.claimed:.2f} h claimed from Ironbark, {loss.suspended:.2f} h are suspended ({loss.suspended_rig_months} of "
        f"{loss.rig_months} rig-months) and {loss.credited:.2f} h were credited"
    )
    ask(
        engagement,
        who(engagement, "sponsor"),
        r"fix the rules",
        f"The downtime coding costs you credits: {shown}, because our own lines can be contested. May I change the coding rules?",
        f"You said that the downtime-coding system is out of scope, but {shown}. May I repair the coding?",
    )


@dataclass(frozen=True)
class CauseRule:
    """Who bears a failure of the contractor's equipment when our company man had ordered what it was doing."""

    within_rating: str
    beyond_rating: str


def learn_cause_rule(engagement: Engagement, amendment: Amendment) -> CauseRule:
    """The cost engineer defends the claim line by line, so he knows what decides a line."""
    shown = f"Amendment {amendment.number} is signed: {amendment.hours} hours per rig and calendar month."
    found = ask(
        engagement,
        who(engagement, "credit claim"),
        r"company man[^:]*: it's (theirs|ours) as long as [^,.]*inside[^,.]* rated[^,.]*, and (theirs|ours) once it went beyond",
        f"{shown} By which rule do you decide who bears an event when the company man ordered what the equipment was doing?",
        f"{shown} Which rule decides the responsible party of a downtime line?",
    )
    party = {"theirs": "CONTRACTOR", "ours": "NONE"}
    return CauseRule(party[found[1].lower()], party[found[2].lower()])


@dataclass(frozen=True)
class Queue:
    """Where held events are reviewed: what a reason begins with, and how many events a rig and month are taken."""

    id: str
    capacity: str


def learn_queue(engagement: Engagement) -> Queue:
    """The handover notes say that nobody knows who looks at held events; the one who defends the claim should."""
    found = ask(
        engagement,
        who(engagement, "credit claim"),
        r"put (\S+) at the head of the reason.*?(\d+) per rig per month",
        "Who reviews events on HOLD, where the day and night remarks disagree or the root cause is still open?",
        "Which queue do events with an open cause or two stories go to, and how many of them can be reviewed?",
    )
    return Queue(found[1], found[2])


def get_approval(engagement: Engagement, amendment: Amendment, queue: Queue, rule_set: str, tested: dict[str, Any]) -> str:
    """The reference under which the rule set may go into production."""
    sponsor, engineer = who(engagement, "sponsor"), who(engagement, "credit claim")
    request = (
        f"Please approve rule set {rule_set} of the downtime coder. It relies on Article 4.5 as replaced by Amendment {amendment.number}: "
        f"{amendment.hours} hours per rig and calendar month from {amendment.first_month}. {sponsor.name} agreed that the rules change, "
        f"{engineer.name} confirmed the rule: the asset register and the cause decide. Back-test on the claims of {tested['first']} to "
        f"{tested['last']}: the new rules would not claim {tested['unclaimed']} lines that were claimed; what is open goes to {queue.id}."
    )
    return ask(engagement, who(engagement, "approves changes"), r"approved as (MOC-\w+-\d+)", request)[1]


# --- the draft --------------------------------------------------------------

RULES = '''"""Rules {rule_set}: who furnished the item, and the cause, decide who bears an event, not the tool that the remark names."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

QUEUE = "{queue}"
REVIEWS_PER_RIG_MONTH = {capacity}
WITHIN_RATING = "{within_rating}"
BEYOND_RATING = "{beyond_rating}"

OPEN = "OPEN"
ON_SCHEDULE = (7, 9, 15)  # rig service, drilling line, BOP test (operations handbook, sheet 12)

ORDERED = re.compile(r"\\b(per cm|per co man|on sabine program|as ordered by cm|at co rep request)\\b")
BEYOND = re.compile(r"\\b(above rated|past rated|exceeded rated|(?<!not )over limit)\\b")
CAUSE_OPEN = re.compile(r"root cause open|cause_open|cause not determined|rca pending")
TWO_TOURS = re.compile(r"^(?:d|day|days)\\b.* / (?:n|night|nights)\\b[\\s:-]*(.*)$", re.DOTALL)


def judge(ev: dict[str, Any], conn: sqlite3.Connection) -> tuple[str, str]:
    """CONTRACTOR, SERVICE, NONE or OPEN, and why. OPEN: the contractor's item, but the sheet does not say what happened."""
    row = conn.execute("SELECT owner FROM assets WHERE asset_id = ?", (ev["asset_id"],)).fetchone()
    owner = row[0] if row else None
    if owner is None:
        return "NONE", "no item on the register"
    if owner == "SABINE":
        return "NONE", "our rental"
    if owner != "IRONBARK":
        return "SERVICE", f"furnished by {{owner.title()}}"
    if ev["iadc_code"] in ON_SCHEDULE:
        return "NONE", "work on schedule"
    if not ev["pusher_signed"]:
        return "NONE", "sheet not signed (Article 9.4), it counts for nothing"
    remark = " ".join(ev["remark"].lower().split())
    tours = TWO_TOURS.match(remark)
    if tours and not tours[1].startswith(("cont'd", "same")):
        return OPEN, "the tours tell different stories"
    if CAUSE_OPEN.search(remark):
        return OPEN, "root cause open"
    if not ORDERED.search(remark):
        return "CONTRACTOR", "contractor's equipment failed"
    if BEYOND.search(remark):
        return BEYOND_RATING, "ordered by our company man, beyond its rating"
    return WITHIN_RATING, "ordered by our company man, within its rating"


def reviewable(ev: dict[str, Any], conn: sqlite3.Connection) -> bool:
    """Whether an open event is among the first of its rig and month, as many as the reviewer can take."""
    rows = conn.execute(
        "SELECT * FROM events WHERE rig_id = ? AND substr(start_ts, 1, 7) = ? AND (start_ts, event_id) < (?, ?)",
        (ev["rig_id"], ev["start_ts"][:7], ev["start_ts"], ev["event_id"]),
    )
    names = [column[0] for column in rows.description]
    earlier = [dict(zip(names, row)) for row in rows.fetchall()]
    return sum(judge(other, conn)[0] == OPEN for other in earlier) < REVIEWS_PER_RIG_MONTH
'''

OLD_CODING = """    keyword, party = classify(ev["remark"])
    return {"event_id": ev["event_id"], "party": party, "reason": explain(keyword, party)}
"""

NEW_CODING = """    party, reason = rules.judge(ev, conn)
    if party == rules.OPEN:
        party, reason = (HOLD, f"{rules.QUEUE}: {reason}") if rules.reviewable(ev, conn) else (NONE, f"not claimed, {reason}")
    return {"event_id": ev["event_id"], "party": party, "reason": reason}
"""

OLD_ALLOWANCE = """# Master contract, Article 4.5: hours per rig and calendar month before anything may be claimed.
REPAIR_ALLOWANCE_H = 24
"""

NEW_ALLOWANCE = '''# Master contract, Article 4.5: hours per rig and calendar month before anything may be claimed.
BASE_ALLOWANCE_H = 24
# Amendment {number}, which holds from this claim month on.
AMENDED_ALLOWANCE_H = {hours}
AMENDED_FROM = "{first_month}"


def allowance(month: str) -> float:
    """Hours of repair time that the contractor is paid for in a month."""
    return AMENDED_ALLOWANCE_H if month >= AMENDED_FROM else BASE_ALLOWANCE_H
'''

OLD_CLAIMABLE = "used + hours - REPAIR_ALLOWANCE_H"
NEW_CLAIMABLE = "used + hours - allowance(month)"

OLD_SUMMARY = '''    """Entries of the mail about `day` (YYYY-MM-DD): event id and text. Nothing so far."""
    return []
'''

NEW_SUMMARY = '''    """Entries of the mail about `day` (YYYY-MM-DD): the longest three problems of each rig, its footage and downtime."""
    entries = []
    drilled = conn.execute("SELECT rig_id, end_depth_ft - start_depth_ft FROM drilling_daily WHERE day = ? ORDER BY rig_id", (day,))
    for rig, feet in drilled.fetchall():
        events = conn.execute(
            "SELECT event_id, hours, remark FROM events WHERE rig_id = ? AND substr(start_ts, 1, 10) = ? ORDER BY hours DESC, start_ts",
            (rig, day),
        ).fetchall()
        down = sum(event[1] for event in events)
        for event_id, hours, remark in events[:3]:
            entries.append({"event_id": event_id, "text": f"{rig} ({feet} ft, {down:.2f} h down): {hours:.2f} h {remark}"})
    return entries
'''


def write_draft(engagement: Engagement, amendment: Amendment, rule: CauseRule, queue: Queue) -> str:
    """Build the new rule set in ``draft/``, beside the system, and return its name."""
    released = json.loads(engagement.read_text("system/npt/release.json"))["rule_set"]
    letters, number = released.split("-")
    rule_set = f"{letters}-{int(number) + 1}"
    engagement.run("rm -rf draft && mkdir draft && cp -R system data draft/")
    engagement.write_text(
        "draft/system/npt/rules.py",
        RULES.format(
            rule_set=rule_set,
            queue=queue.id,
            capacity=queue.capacity,
            within_rating=rule.within_rating,
            beyond_rating=rule.beyond_rating,
        ),
    )
    try:
        coder, claims = "draft/system/npt/coder.py", "draft/system/npt/claims.py"
        engagement.edit(coder, f"Downtime coder, rule set {released}.", f"Downtime coder, rule set {rule_set}.")
        engagement.edit(coder, "from the equipment that the\nremark names.", "by the rules in rules.py.")
        engagement.edit(coder, f'RULE_SET = "{released}"', f'RULE_SET = "{rule_set}"')
        engagement.edit(coder, "from typing import Any\n", "from typing import Any\n\nfrom system.npt import rules\n")
        engagement.edit(coder, OLD_CODING, NEW_CODING)
        engagement.edit(
            claims,
            OLD_ALLOWANCE,
            NEW_ALLOWANCE.format(number=amendment.number, hours=amendment.hours, first_month=amendment.first_month),
        )
        engagement.edit(claims, OLD_CLAIMABLE, NEW_CLAIMABLE)
        engagement.edit("draft/system/npt/summary.py", OLD_SUMMARY, NEW_SUMMARY)
    except ValueError as error:
        raise Stop(f"the system is not the one I know: {error}") from error
    return rule_set


BACK_TEST = """
import json, sqlite3
from system.npt.claims import build_claim
from system.npt.coder import code_event
from system.npt.summary import daily_summary

conn = sqlite3.connect("file:data/npt.db?mode=ro", uri=True)
conn.row_factory = sqlite3.Row
coded, claimed = {}, set()
for ev in map(dict, conn.execute("SELECT * FROM events ORDER BY start_ts").fetchall()):
    coded.setdefault((ev["rig_id"], ev["start_ts"][:7]), []).append(code_event(ev, conn=conn))
for (rig, month), events in coded.items():
    claimed |= {line["event_id"] for line in build_claim(rig, month, events, {}, conn=conn) if line["party"] == "CONTRACTOR"}
past = [tuple(row) for row in conn.execute("SELECT event_id, month FROM claim_history").fetchall()]
quarters = {}
for month in sorted({month for _, month in past}):
    quarters.setdefault((month[:4], (int(month[5:]) - 1) // 3), []).append(month)
months = [each for each in quarters.values() if len(each) == 3][-1]  # the last that is complete
quarter = [event for event, month in past if month in months]
daily_summary(months[-1] + "-01", conn=conn)
print(json.dumps({"first": months[0], "last": months[-1], "unclaimed": sum(event not in claimed for event in quarter)}))
"""


def back_test(engagement: Engagement) -> dict[str, Any]:
    """Run the draft over the history: how many lines of the last full quarter would it not claim as they were?"""
    return run_python(engagement, BACK_TEST, "draft")


NOTES = """
## Notes on {rule_set} ({reference})
`rules.py` codes by the asset register and the cause. Open events of a signed sheet are held, their reason begins with {queue}; the summary
lists the three longest problems of a rig. Not delivered: the box for questions, which production does not call.
"""


def put_in_place(engagement: Engagement, queue: Queue, rule_set: str, reference: str) -> None:
    """Exchange the system for the approved draft, under its reference."""
    engagement.write_text("draft/system/npt/release.json", json.dumps({"rule_set": rule_set, "approval_ref": reference}) + "\n")
    readme = engagement.read_text("draft/system/README.md")
    engagement.write_text("draft/system/README.md", readme + NOTES.format(rule_set=rule_set, reference=reference, queue=queue.id))
    moved = engagement.run("cp -R draft/system/. system/ && rm -rf draft")
    if moved.exit_code != 0:
        raise RuntimeError(f"the draft could not be put in place: {moved.stderr}")
