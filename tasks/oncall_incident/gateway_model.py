"""The simulated model behind the company's gateway: plausible about an alert, no better informed than the catalog about owners."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fdegym.kit import GatewayRequest, share_of

from .estate import SERVICES, TEAMS, Estate

OWNER_RIGHT, SAME_RIGHT = 0.9, 0.72
_OWNER = re.compile(
    r"\bwho(?:'s| is)? (?:owns?|the owner|responsible|on call)\b|\bowner\b|\bowning team\b|\bwhich team\b|\bwhose\b", re.IGNORECASE
)
_SAME = re.compile(
    r"\bsame (?:incident|problem|outage|cause|root)\b|\bduplicates?\b|\brelated (?:to|incident)\b|\bcorrelat\w+", re.IGNORECASE
)
_ALERT = re.compile(r"\b[AT]-(\d{5})\b")
_SYMPTOM = re.compile(r"crash[_ -]?loop|disk[_ -]?full|\bother\b", re.IGNORECASE)
_RULE = re.compile(r"pod_restarts|process_exits|volume_95_percent|inode_exhausted|error_rate|latency_p95|health_check|queue_depth")

_CAUSES: Mapping[str, Sequence[str]] = {
    "crash_loop": (
        "the process exits shortly after start, often after a failed configuration load or a memory limit",
        "repeated restarts within minutes point to an exception during warm-up or an unreachable dependency",
    ),
    "disk_full": (
        "the data volume has run full, usually through logs or temporary export files",
        "no space is left on the volume, so writes fail and health checks follow",
    ),
    "other": (
        "requests are slow or failing without a crash, which is often caused by a service further upstream",
        "saturation or a dependency that answers late is the most frequent reason for this pattern",
    ),
}
_STEPS: Mapping[str, str] = {
    "crash_loop": "read the last exit reason, compare the running release with the previous one, restart once if the dependency is healthy",
    "disk_full": "look for the largest files of the last day, rotate logs, restart after space has been freed",
    "other": "check the upstream service first, then latency and error graphs of the last thirty minutes",
}


def answer(request: GatewayRequest, estate: Estate, truth: Mapping[str, Any] | None) -> str:
    """Errors belong to the service or the pair of alerts that is asked about, not to the wording; every seed draws others."""
    text = request.text
    numbers = list(dict.fromkeys(_ALERT.findall(text)))
    services = _services(text)
    if _SAME.search(text) and len(numbers) > 1:
        return _same(numbers[0], numbers[1], estate, truth)
    if _OWNER.search(text) and services:
        return _owner(services[0], estate)
    if not services:
        return "I need the alert itself: service, rule, severity and symptom."
    return _summary(services[0], text, estate)


def _services(text: str) -> list[str]:
    lower = text.lower()
    places = {service: re.search(rf"(?<![\w-]){re.escape(service)}(?![\w-])", lower) for service in SERVICES}
    return [service for service, found in sorted(places.items(), key=lambda pair: pair[1].start() if pair[1] else 0) if found]


def _owner(service: str, estate: Estate) -> str:
    team = estate.catalog[service]
    if share_of(estate.salt, "owner", service) >= OWNER_RIGHT:
        team = TEAMS[(TEAMS.index(team) + 1 + int(share_of(estate.salt, "other", service) * (len(TEAMS) - 1))) % len(TEAMS)]
    return f"According to the service catalog, {service} belongs to the {team} team."


def _same(first: str, second: str, estate: Estate, truth: Mapping[str, Any] | None) -> str:
    alerts = truth["alerts"] if truth is not None else {}
    one, other = (alerts.get(f"A-{number}") for number in (first, second))
    same = one is not None and other is not None and one["problem"] == other["problem"]
    if share_of(estate.salt, "same", *sorted((first, second))) >= SAME_RIGHT:
        same = not same
    return "Yes, these belong to the same incident." if same else "No, these look like separate incidents."


def _summary(service: str, text: str, estate: Estate) -> str:
    found = _SYMPTOM.search(text)
    symptom = (
        re.sub(r"[ -]", "_", found.group().lower()).replace("crashloop", "crash_loop").replace("diskfull", "disk_full")
        if found
        else "other"
    )
    rule = _RULE.search(text)
    cause = _CAUSES[symptom][int(share_of(estate.salt, "cause", service, symptom) * 2)]
    below, above = estate.below(service), estate.above(service)
    affected = f"It can affect {', '.join(below[:4])}." if below else "Nothing that we know of depends on it."
    upstream = f" It depends on {above[0]}." if above else ""
    what = f"{rule.group()} fired on {service}" if rule else f"{service} raised an alert"
    return f"{what}. Likely cause: {cause}. {affected}{upstream} What to try: {_STEPS[symptom]}."
