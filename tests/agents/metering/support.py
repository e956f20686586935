"""A provider behind a meter, with a run that its calls are attributed to; and bare HTTP."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_fdegym.agents.metering import Account, Meter, upstreams
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event
from tests.support.providers import Api, Provider, Reply, Script, Tokens

MODELS: Mapping[Api, str] = {"chat": "gpt-4o-2024-08-06", "responses": "gpt-4o-2024-08-06", "messages": "claude-3-haiku-20240307"}
"""Models whose list prices will not change any more."""
USED = Tokens(input=1000, output=50, cached=400)
PATHS: Mapping[Api, str] = {
    "chat": "/openai/v1/chat/completions",
    "responses": "/openai/v1/responses",
    "messages": "/anthropic/v1/messages",
}
APIS: tuple[Api, ...] = ("chat", "responses", "messages")


class Events:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.all: list[Event] = []
        self._changed = threading.Condition()

    def notify(self, event: Event) -> None:
        with self._changed:
            self.all.append(event)
            self._changed.notify_all()

    def wait(self, number: int = 1) -> None:
        """Until so many have come."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= number, 30)

    @property
    def data(self) -> list[dict[str, Any]]:
        return [dict(event.data) for event in self.all]


@dataclass
class Run:
    provider: Provider
    meter: Meter
    tracker: LimitTracker
    account: Account
    events: Events


@contextmanager
def run(
    script: Script = (), limits: Limits | None = None, *, key: bool = True, clock: Any = None, changes: Mapping[str, str] | None = None
) -> Iterator[Run]:
    """A run, while the context is open. Without `key` the user has none; `changes` are of the user's environment."""
    tracker = LimitTracker(limits or Limits(), **({} if clock is None else {"clock": clock}))
    with Provider(script) as provider:
        environment = provider.environment if key else {name: value for name, value in provider.environment.items() if "KEY" not in name}
        events = Events()
        with Meter(upstreams({**environment, **(changes or {})})) as meter, meter.attributed(tracker, events) as account:
            yield Run(provider, meter, tracker, account, events)


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """Of an error, in either API's shape."""
        return str(self.json["error"]["message"])


def address(environment: Mapping[str, str]) -> str:
    return environment["OPENAI_BASE_URL"].removeprefix("http://").removesuffix("/openai/v1")


def question(api: Api, **more: Any) -> dict[str, Any]:
    asked = {"input": "hello"} if api == "responses" else {"messages": [{"role": "user", "content": "hello"}]}
    return {"model": MODELS[api], **asked, **({"max_tokens": 9} if api == "messages" else {}), **more}


@dataclass
class Bare:
    """One connection without any client library's own ideas."""

    environment: Mapping[str, str]
    credentials: str | None = None
    """Instead of the environment's token; empty for none."""
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection(address(self.environment), timeout=30)

    def __enter__(self) -> Bare:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.connection.close()

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> http.client.HTTPResponse:
        """The answer with its body still to be read."""
        key = (
            next(value for name, value in self.environment.items() if name.endswith("KEY"))
            if self.credentials is None
            else self.credentials
        )
        credentials = {} if not key else {"x-api-key": key} if path.startswith("/anthropic") else {"authorization": f"Bearer {key}"}
        content = json.dumps(body) if isinstance(body, dict) else body
        self.connection.request(method, path, content, {"content-type": "application/json", **credentials, **(headers or {})})
        return self.connection.getresponse()

    def request(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answered:
        response = self.send(method, path, body, headers)
        return Answered(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())

    def ask(self, api: Api, headers: Mapping[str, str] | None = None, **more: Any) -> Answered:
        return self.request("POST", PATHS[api], question(api, **more), headers)


def ask(environment: Mapping[str, str], api: Api, credentials: str | None = None, **more: Any) -> Answered:
    """One question on a connection of its own."""
    with Bare(environment, credentials) as bare:
        return bare.ask(api, **more)


HELLO = Reply("hello", usage=USED)
