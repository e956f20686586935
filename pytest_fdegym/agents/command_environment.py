"""The environment of an agent that is a command: built from nothing, by a short list and what the user names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

INHERITED = (
    *("LANG", "LC_ALL", "LC_CTYPE", "TZ"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
)
"""Variables that are the same for the command as for the user: language, time zone, certificates."""
INHERITED_ON_THE_NETWORK = tuple(
    spelled for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for spelled in (name, name.lower())
)
"""Variables without which a network may not be reached."""
FIXED = {"TERM": "dumb", "NO_COLOR": "1", "DO_NOT_TRACK": "1", "NO_UPDATE_NOTIFIER": "1"}
"""What is said to every command: no terminal, no telemetry, no looking for updates."""
NEVER = "PYTEST_"
"""How the names of variables begin that are kept from every agent."""
_SHORTEST_SECRET = 6


def environment(user: Mapping[str, str], passed: Iterable[str], *, network: bool) -> dict[str, str]:
    """Return what the command gets of the environment `user`; `passed` are the names that the user chose to let through."""
    names = [*INHERITED, *(INHERITED_ON_THE_NETWORK if network else ()), *passed]
    return {**FIXED, **{name: user[name] for name in names if name in user and not name.startswith(NEVER)}}


def redacted(text: str, user: Mapping[str, str], passed: Iterable[str]) -> str:
    """Return `text`, which is to be kept, with the values of the variables `passed` replaced by their names."""
    for name in passed:
        if len(value := user.get(name, "")) >= _SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return text
