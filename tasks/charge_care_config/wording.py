"""What drivers write to care: sentences by matter, and how they are put together. The simulated model behind the gateway knows them too."""

from __future__ import annotations

from collections.abc import Mapping

MATTERS = ("idle", "broken", "general", "safety")

IDLE = (
    "I was charged {amount} for idling at {site} and I want that looked at",
    "your app shows an idle fee of {amount} for {site} and I do not see what I did wrong",
    "the fee of {amount} at {site} is not fair, I walked straight back to the car",
    "please take the {amount} idle fee off, I was at {site} and moved as soon as I could",
    "an idle fee of {amount} at {site}, really? I left within minutes",
    "the text about my car at {site} came late and you billed {amount} anyway",
    "I dispute the {amount} you call an idle fee at {site}",
    "who decides that I was idling at {site}? {amount} is a lot for a few minutes",
    "I paid for the energy at {site} and then another {amount} for standing there, why",
    "by the time your message arrived the clock at {site} had run up {amount}",
)

BROKEN = (
    "the charger at {site} quit on me after {kwh} kWh and would not come back",
    "charging stopped by itself at {site} with {kwh} kWh in and the screen went blank",
    "stall at {site} died at {kwh} kWh and I still had to pay",
    "I only got {kwh} kWh at {site} before it gave up and the cable would not let go",
    "the session at {site} broke off at {kwh} kWh and nobody was there to help",
    "your charger at {site} dropped out after {kwh} kWh and the plug stayed locked for a while",
    "it delivered {kwh} kWh at {site} and then nothing, I had to call a friend",
    "half way through at {site} the power cut out, {kwh} kWh is not what I came for",
    "the unit at {site} threw an error at {kwh} kWh and left me stranded",
    "at {site} the session ended on its own with {kwh} kWh while I sat in the car",
)

GENERAL_FAQ = (
    "can you send me a receipt for {site} with {kwh} kWh on it",
    "my membership does not show the discount for the {kwh} kWh at {site}",
    "the RFID card I ordered before I drove to {site} for {kwh} kWh has not arrived",
    "does {site} have a NACS connector, I took {kwh} kWh on an adapter",
    "are there opening hours at {site}, I was there for {kwh} kWh late at night",
    "does roaming with other networks work at {site}, I took {kwh} kWh there on my account",
)

GENERAL_OTHER = (
    "the app forgot my favourite stops, last one was {site} with {kwh} kWh",
    "is there a bathroom at {site}, the {kwh} kWh took a while",
    "how do I change the car in my profile, the one that took {kwh} kWh at {site} is sold",
    "the lights over the stalls at {site} were out when I took my {kwh} kWh",
    "could you add more stalls at {site}, I waited before I got my {kwh} kWh",
    "how do I put my company name on the account for the {kwh} kWh at {site}",
)

SAFETY_NAMED = (
    "there was smoke coming from the plug at {site} after {kwh} kWh",
    "I got a shock when I touched the handle at {site}, {kwh} kWh in",
    "I burned my hand on the connector at {site} after {kwh} kWh",
    "I saw a spark when I plugged out at {site} after {kwh} kWh",
    "the housing at {site} has melted on one side, I was at {kwh} kWh",
)

SAFETY_PLAIN = (
    "the cable at {site} was far too hot to hold at {kwh} kWh and smelled of plastic",
    "somebody drove into the stall at {site} and bare wires are hanging out, I stopped at {kwh} kWh",
)

OPENINGS = (
    "Hi,",
    "Hello,",
    "Good morning,",
    "Hey there,",
    "To whom it may concern,",
    "Hello Brightpost,",
    "Second time this year:",
    "Just so you know,",
)

CLOSINGS = (
    "Thanks.",
    "Please get back to me.",
    "Not happy.",
    "I have been a customer for two years.",
    "Regards",
    "I expect an answer this week.",
    "Thank you for your help.",
    "Otherwise I like your network.",
)

SENTENCES: Mapping[str, tuple[str, ...]] = {
    "idle": IDLE,
    "broken": BROKEN,
    "general": (*GENERAL_FAQ, *GENERAL_OTHER),
    "safety": (*SAFETY_NAMED, *SAFETY_PLAIN),
}


def write(sentence: str, opening: float, closing: float, *, site: str, kwh: float, amount: float) -> str:
    """A ticket's text; `opening` and `closing` are luck (0..1)."""
    body = sentence.format(site=site, kwh=f"{kwh:.1f}", amount=f"${amount:.2f}")
    return f"{chosen(OPENINGS, opening)} {body}. {chosen(CLOSINGS, closing)}"


def chosen(choices: tuple[str, ...], luck: float) -> str:
    """One of `choices`, by luck (0..1)."""
    return choices[min(int(luck * len(choices)), len(choices) - 1)]
