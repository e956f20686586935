"""Waiting, trials, and mail that comes by itself."""

from __future__ import annotations

from .scripts import TUESDAY, at, person, talk, topic

TAX = {"ada": person("Ada", {"tax": topic("Nine.", facts=["F"])})}


def mail(subject: str, **more: object) -> dict[str, object]:
    return {"sender": "ada", "subject": subject, "text": f"On {subject}.", **more}


def test_working_days_skipped_are_charged_and_weekends_are_not() -> None:
    chat = talk(TAX, facts="F")
    result = chat.wait_until(at(10, 8))
    assert (result.began_at, result.now, result.working_days) == (TUESDAY, at(10, 8), 4)
    assert (chat.ledger.contact_cost, chat.ledger.days_waited) == (0.048, 4)


def test_waiting_days_ends_on_a_working_morning() -> None:
    chat = talk(TAX, facts="F")
    chat.ask("ada", "tax?")
    assert chat.wait_days(3).now == at(7, 8)
    assert chat.wait_days(1).now == at(10, 8)
    assert chat.ledger.days_waited == 4


def test_a_wait_within_a_day_or_until_now_costs_nothing() -> None:
    chat = talk(TAX, facts="F")
    chat.wait_until(at(4, 8))
    chat.wait_until(at(4, 17))
    assert (chat.ledger.contact_cost, chat.now) == (0.0, at(4, 17))


def test_a_message_that_does_not_fit_the_day_is_answered_next_morning_without_a_day_being_charged() -> None:
    chat = talk(TAX, facts="F")
    chat.wait_until(at(4, 17))
    assert chat.ask("ada", "tax?").answered_at == at(5, 8)
    assert chat.ledger.contact_cost == 0.01


def test_mail_arrives_in_order_and_is_new_once() -> None:
    inbox = {"b": mail("B", at=at(4, 11)), "a": mail("A", at=at(4, 9)), "zero": {**mail("Z"), "sender": "Head office"}}
    chat = talk(TAX, inbox, facts="F")
    assert [(m.id, m.sender, m.at, m.new) for m in chat.inbox()] == [("zero", "Head office", TUESDAY, True)]
    assert chat.wait_until(at(4, 12)).new_mail == 2
    seen = [(m.id, m.sender, m.subject, m.text, m.at, m.new) for m in chat.inbox()]
    assert seen == [
        ("zero", "Head office", "Z", "On Z.", TUESDAY, False),
        ("a", "Ada", "A", "On A.", at(4, 9), True),
        ("b", "Ada", "B", "On B.", at(4, 11), True),
    ]
    assert [m.new for m in chat.inbox()] == [False, False, False]
    assert chat.ledger.contact_cost == 0.0
    assert chat.now == at(4, 12)


def test_mail_arrives_after_a_fact_and_after_charged_replies_when_they_came() -> None:
    chat = talk(TAX, {"fact": mail("fact", after_fact="F"), "second": mail("second", after_messages=2)}, facts="F")
    chat.ask("ada", "lunch?")
    assert chat.inbox() == []
    chat.ask("ada", "tax?")
    chat.wait_until(at(5, 9))
    assert [(m.id, m.at) for m in chat.inbox()] == [("fact", at(4, 12)), ("second", at(4, 12))]


def test_facts_in_mail_are_released_when_it_is_read_and_may_bring_more_mail() -> None:
    inbox = {"reply": mail("reply", after_fact="F"), "notice": mail("notice", at=at(4, 9), facts=["F"])}
    chat = talk(TAX, inbox, facts="F")
    chat.wait_until(at(4, 10))
    assert chat.ledger.facts == frozenset()
    assert [m.id for m in chat.inbox()] == ["notice", "reply"]
    assert chat.ledger.facts == {"F"}
    assert [(entry.kind, entry.facts) for entry in chat.ledger.entries[1:]] == [("inbox", ("F",)), ("inbox", ())]


def test_a_trial_is_charged_and_moves_the_clock_only_where_it_says_so() -> None:
    chat = talk(TAX, facts="F")
    chat.record_trial("T-1", "Two complaints.", 0.03)
    assert chat.now == TUESDAY
    chat.record_trial("T-2", "None.", 0.03, minutes=600)
    assert (chat.now, chat.ledger.trials, chat.ledger.contact_cost, chat.ledger.messages) == (at(4, 18), 2, 0.06, 0)
