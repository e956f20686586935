"""A few lines of the model's on top of a page; an alert never waits for them to succeed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from system.gateway import Gateway, GatewayError

ASK = (
    "You write the head of a page for an engineer on call. In four sentences: what happened, what it is likely to be, what it touches, what to try."
    " No greeting."
)


def summarize(alert: Mapping[str, Any], gateway: Gateway) -> str | None:
    """The model's text about an alert, or None if the gateway gives none."""
    facts = ", ".join(f"{name} {alert[name]}" for name in ("alert_id", "ts", "service", "rule", "severity", "symptom"))
    try:
        return gateway.chat([{"role": "system", "content": ASK}, {"role": "user", "content": facts}])
    except GatewayError:
        return None
