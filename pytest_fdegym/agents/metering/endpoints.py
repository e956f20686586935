"""What the proxy passes on, and which of it is a model call; anything else is refused, since the user's key would pay for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from pytest_fdegym.agents.metering.upstream import Provider

Api = Literal["chat", "responses", "messages", "embeddings"]
"""How the usage of a call is written down."""

_ID: Final = r"/[A-Za-z0-9_:@-][A-Za-z0-9._:@-]*"
"""A path segment without ``..`` and without percent signs."""


@dataclass(frozen=True)
class Endpoint:
    """`api` is None for what is free of charge; `turn` says whether an answer is a turn of the agent."""

    provider: Provider
    method: str
    pattern: str
    api: Api | None = None
    turn: bool = False

    def matches(self, provider: Provider, method: str, path: str) -> bool:
        """`path` is without its query."""
        return (provider, method) == (self.provider, self.method) and re.fullmatch(self.pattern, path) is not None


ENDPOINTS: Final = (
    Endpoint("openai", "POST", "/chat/completions", "chat", turn=True),
    Endpoint("openai", "POST", "/responses(/compact)?", "responses", turn=True),
    Endpoint("openai", "POST", "/responses/input_tokens"),
    Endpoint("openai", "GET", rf"/responses{_ID}(/input_items)?"),
    Endpoint("openai", "DELETE", rf"/responses{_ID}"),
    Endpoint("openai", "POST", "/embeddings", "embeddings"),
    Endpoint("openai", "GET", f"/models(({_ID}){{1,3}})?"),
    Endpoint("anthropic", "POST", "/v1/messages", "messages", turn=True),
    Endpoint("anthropic", "POST", "/v1/messages/count_tokens"),
    Endpoint("anthropic", "GET", f"/v1/models(({_ID}){{1,3}})?"),
)
ACCEPTED: Final = {
    "openai": "POST /chat/completions, /responses and /embeddings, GET /models",
    "anthropic": "POST /v1/messages and /v1/messages/count_tokens, GET /v1/models",
}


def endpoint(provider: Provider, method: str, path: str) -> Endpoint | None:
    """The endpoint that a request names; None for what is not passed on."""
    return next((each for each in ENDPOINTS if each.matches(provider, method, path)), None)
