"""A client of an OpenAI-compatible chat endpoint: bounded in time, size and attempts; what goes wrong is an InfrastructureFault."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_fdegym._version import __version__
from pytest_fdegym.errors import InfrastructureFault, UsageError

MAX_ANSWER: Final = 1_000_000
"""Bytes of an answer that are read."""
LONGEST_PAUSE: Final = 30.0
"""Seconds that a server's Retry-After is heeded."""
_SHOWN: Final = 300
"""Characters of a server's complaint that a message quotes."""
_AGAIN: Final = frozenset({408, 409, 425, 429})

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Completion:
    """What the model wrote (empty when it wrote nothing), and the name under which the server says it answered."""

    text: str
    model: str | None = None


class _Again(Exception):
    """A fault that may pass; `pause` is how many seconds the server asks to wait, where it does."""

    def __init__(self, what: str, pause: float | None = None) -> None:
        super().__init__(what)
        self.pause = pause


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the key to another server."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs


@dataclass(frozen=True)
class ChatEndpoint:
    """POST ``{base_url}/chat/completions`` with temperature 0. Proxies are taken from the environment, redirects are not followed."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    what: str = "the model"
    """How messages call it."""
    seconds: float = 60.0
    """Wall time of one attempt."""
    attempts: int = 4
    """For connection faults, timeouts, HTTP 408, 409, 425, 429 and 5xx; anything else is not tried again."""
    pause: float = 1.0
    """Seconds before the second attempt; doubled for each one after it."""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    @property
    def shown_url(self) -> str:
        """The base URL without a user name, password, query or fragment."""
        parts = urllib.parse.urlsplit(self.base_url)
        return urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    def complete(self, messages: Messages, max_tokens: int) -> Completion:
        """Ask for one completion. Raises InfrastructureFault; it never names the key."""
        body = json.dumps({"model": self.model, "messages": list(messages), "temperature": 0, "max_tokens": max_tokens}).encode()
        pause = self.pause
        for attempt in range(1, self.attempts + 1):
            try:
                return self._once(body)
            except _Again as fault:
                if attempt == self.attempts:
                    raise self._fault(f"{fault} ({attempt} attempts)") from fault
                self.sleep(min(LONGEST_PAUSE, max(pause, fault.pause or 0.0)))
                pause *= 2
        raise AssertionError("attempts is at least 1")

    def _once(self, body: bytes) -> Completion:
        headers = {"content-type": "application/json", "accept": "application/json", "user-agent": f"pytest-fdegym/{__version__}"}
        if self.key is not None:
            headers["authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(f"{self.base_url.rstrip('/')}/chat/completions", body, headers, method="POST")
        until = self.clock() + self.seconds
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=self.seconds) as response:
                return self._completion(self._read(response, until))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise _Again(f"cannot be reached: {_reason(error)}") from error

    def _read(self, response: http.client.HTTPResponse, until: float) -> bytes:
        expected = response.headers.get("content-length", "")
        parts, size = [], 0
        while part := response.read1(65_536):
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                raise self._fault(f"gave an answer of more than {MAX_ANSWER:,} bytes")
            if self.clock() > until:
                raise TimeoutError(f"no whole answer within {self.seconds:g} s")
        if expected.isdigit() and size < int(expected):
            raise ConnectionError("the connection was closed in the middle of an answer")
        return b"".join(parts)

    def _completion(self, body: bytes) -> Completion:
        try:
            answer = json.loads(body)
            text = answer["choices"][0]["message"].get("content")
            model = answer.get("model")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise self._fault(f"gave an answer that is no chat completion: {self._excerpt(body)}") from error
        return Completion(_writable(text) if isinstance(text, str) else "", _writable(model) if isinstance(model, str) else None)

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        try:
            body = error.read(65_536)
        except (OSError, http.client.HTTPException):
            body = b""
        what = f"answered HTTP {error.code} {error.reason}: {self._excerpt(body)}".removesuffix(": ")
        if error.code in _AGAIN or error.code >= 500:
            seconds = error.headers.get("retry-after", "")
            return _Again(what, float(seconds) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]+)?", seconds) else None)
        return self._fault(what)

    def _excerpt(self, body: bytes) -> str:
        text = " ".join(body.decode("utf-8", "replace").split())
        if self.key:
            text = text.replace(self.key, "***")
        return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."

    def _fault(self, what: str) -> InfrastructureFault:
        return InfrastructureFault(f"{self.what} ({self.model} at {self.shown_url}) {what}")


def endpoint_from(environ: Mapping[str, str], prefix: str, model: str, what: str, default_url: str) -> ChatEndpoint:
    """The endpoint that `environ` describes: ``{prefix}_BASE_URL`` else ``OPENAI_BASE_URL`` else `default_url`; the key likewise.

    Raises UsageError for an address that is none, a key that cannot be sent, or no key for `default_url`.
    """
    name = f"{prefix}_BASE_URL" if environ.get(f"{prefix}_BASE_URL") else "OPENAI_BASE_URL"
    base_url = environ.get(name) or default_url
    parts = urllib.parse.urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r"\s", base_url):
        raise UsageError(f"{name}: an address such as {default_url} is expected, found {base_url!r}.")
    key_names = (f"{prefix}_API_KEY", "OPENAI_API_KEY")
    key_name = next((one for one in key_names if environ.get(one)), None)
    key = environ[key_name].strip() if key_name else None
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise UsageError(f"{key_name}: a key of printable ASCII characters without spaces is expected.")
    if key is None and base_url == default_url:
        raise UsageError(f"{what} needs a key: set {' or '.join(key_names)}, or {prefix}_BASE_URL for an endpoint of your own.")
    return ChatEndpoint(base_url, model, key, what)


def _writable(text: str) -> str:
    """`text` without lone surrogates, which JSON can spell and no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(reason).__name__
