"""Ideas that messages at work express in many words; general English of offices and projects, nothing of any one scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IDEAS: Final[Mapping[str, str]] = {
    "approve": "approve approval approver approved consent authorise authorize authorisation authorization sign signature signs signing "
    "signed countersign "
    "blessing nod permission clearance endorse ratify greenlight go-ahead okay sanction accept release validate",
    "allow": "allow allowed permit permitted permission forbidden barred banned prohibit restrict restriction limits scope exclusion "
    "excluded remit mandate "
    "fence boundary off-limits latitude",
    "change": "change alter alteration amend modify modification revise revision rework rewrite edit correct correction fix repair "
    "update adjust replace tweak touch patch",
    "current": "current currently latest newest valid today force effective applicable outdated superseded stale newer recent old "
    "version edition up-to-date",
    "contract": "contract agreement amendment addendum clause article paper terms paperwork",
    "executed": "executed signed countersigned sealed concluded",
    "deputy": "deputy delegate delegation delegated substitute stand-in cover covering backup acting alternate proxy replacement deputise",
    "absent": "away absent absence leave holiday vacation out-of-office unavailable back",
    "authority": "authority entitled power empowered responsible charge owner gatekeeper decide decision",
    "evidence": "evidence proof backtest test documentation document attachment support supporting justify justification substantiate "
    "sample samples",
    "reference": "reference ticket number identifier id code tag label mark marker",
    "success": "success succeed successful win worthwhile achieve achievement goal target objective aim outcome result yardstick metric "
    "measure kpi indicator judge judged graded "
    "criterion criteria acceptance needle",
    "report": "report reports reporting dashboard deck board executive management upstairs committee",
    "layout": "layout format look design section table chart colour color prose template mock-up mockup style appearance",
    "recipient": "recipient recipients distribution copy audience reader readers inbox addressee receive subscribers mailing",
    "deadline": "deadline due date by until when timeline cut-off cutoff schedule",
    "mail": "mail e-mail email message newsletter digest bulletin summary briefing",
    "dispute": "dispute disputed contest contested object objection challenge reject rejected disagree quarrel argue argument refuse "
    "refusal denied contention",
    "suspend": "suspend suspended suspense park parked hold held blocked stuck frozen pending withheld limbo",
    "post": "post posted posting book booked booking ledger land credited paid pay payment release released",
    "duration": "duration long weeks days months lag delay wait time typical usually",
    "blame": "blame fault responsible responsibility liable liability attribute attribution charge charged bill billed pay payer bear "
    "carry account party",
    "cause": "cause caused reason root trigger origin source explanation",
    "rule": "rule rules logic policy principle guideline convention practice procedure criterion reasoning",
    "unclear": "unclear unknown undetermined uncertain ambiguous doubtful unresolved open undecided investigating tbd inconclusive "
    "unexplained borderline undiagnosed",
    "review": "review check inspect examine manual human eyes look triage queue worklist assess",
    "limit": "limit maximum max cap ceiling quota capacity threshold minimum most tolerance margin slack grace",
    "allowance": "allowance free deductible allotment entitlement",
    "broken": "broken breakdown failure failed defect damage damaged fault outage washout malfunction crushed spoiled",
    "order": "instruction instructed order ordered direct directed command told request",
    "test": "test tests testing maintenance service servicing inspection routine scheduled planned",
    "table": "table column field schema database key join row rows record records dataset dictionary lookup",
    "meaning": "mean meaning stand definition define legend signify denote interpret glossary describe",
    "missing": "missing null blank empty placeholder sentinel gap gaps filler",
    "duplicate": "duplicate duplicates repeated twice copy copies dedup",
    "owner": "owner own owned belong furnished supplied provided property ownership",
    "worst": "worst most highest biggest troublemaker problem top rank ranking",
    "money": "money dollars amount sum cost price cash euros fee charge worth value",
    "penalty": "penalty penalties credit deduction refund compensation reduction",
    "late": "late delay delayed overdue tardy lateness punctual",
    "clock": "clock timer start stop pause elapsed hours timestamp",
    "holiday": "holiday weekend weekends bank calendar working sunday saturday night",
    "currency": "currency exchange rate fx convert conversion dollar",
    "delete": "delete deleted erase purge keep kept retention retain store archive",
    "personal": "personal privacy mask masked masking hash redact anonymise pseudonymise sensitive",
    "access": "access rights role permission grant read login",
    "vendor": "vendor supplier subcontractor provider third-party external outside cloud",
    "agree": "agree agreement accept settle settlement compromise concede willing withdraw drop",
    "opinion": "view opinion experience think feel judgement impression",
    "notice": "notice announce announced advance warning inform",
    "exclude": "exclude excluded exclusion ignore omit leave out drop remove discount skip count counted",
    "like": "like prefer want wish useful helpful value appreciate read",
}
