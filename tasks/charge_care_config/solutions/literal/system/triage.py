"""What a driver's message is about, by the model of the gateway."""

import json

LABELS = ("idle", "broken", "general", "safety")
PROMPT = (
    "You sort messages of drivers of an EV charging network. Answer with one JSON object with the key label: idle (a fee for staying "
    "plugged in), broken (the charger failed), safety (somebody or something is in danger), general (anything else)."
)


def label_of(text, llm):
    """One of LABELS, or None if the gateway gave nothing that can be used."""
    try:
        answer = json.loads(llm.chat([{"role": "system", "content": PROMPT}, {"role": "user", "content": text}]))
        label = answer["label"]
    except Exception as error:  # the gateway's error class is production's own; a ticket must be answered whatever happens
        print(f"triage: {type(error).__name__}: {error}")
        return None
    return label if label in LABELS else None
