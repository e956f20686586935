"""Where the models are: the addresses and keys that the user's environment gives, and connections to them."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pytest_fdegym.errors import UsageError

Provider = Literal["openai", "anthropic"]
"""Whose API is spoken, whoever serves it."""

PUBLIC: Final[Mapping[Provider, str]] = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
CONNECT_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 3600.0
"""How long an answer, or the next piece of one, may take. Clients give up long before; theirs is the timeout that counts."""


@dataclass(frozen=True)
class Upstream:
    """One API's address, its key (None where the user has none), and the HTTP proxy that leads there, if one does."""

    api: Provider
    base_url: str
    key: str | None = field(default=None, repr=False)
    bearer: bool = False
    """Whether the key is sent as a bearer token although the API has a header of its own for keys (ANTHROPIC_AUTH_TOKEN)."""
    proxy: str | None = field(default=None, repr=False)

    @property
    def credentials(self) -> dict[str, str]:
        """The header that carries the key; empty without one."""
        if self.key is None:
            return {}
        if self.api == "anthropic" and not self.bearer:
            return {"x-api-key": self.key}
        return {"authorization": f"Bearer {self.key}"}

    def target(self, rest: str) -> str:
        """What the request line says for `rest`, the path (and query) below the base URL."""
        parts = urllib.parse.urlsplit(self.base_url)
        path = parts.path.rstrip("/") + rest
        return f"http://{parts.netloc}{path}" if self.proxy is not None and parts.scheme == "http" else path

    def connect(self) -> http.client.HTTPConnection:
        """An open connection; certificates are verified. Raises OSError."""
        parts = urllib.parse.urlsplit(self.base_url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        connection: http.client.HTTPConnection
        if self.proxy is None:
            at, tunnelled = (host, port), False
        else:
            proxy = urllib.parse.urlsplit(self.proxy)
            at, tunnelled = (proxy.hostname or "", proxy.port or 80), parts.scheme == "https"
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(*at, timeout=CONNECT_SECONDS, context=ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(*at, timeout=CONNECT_SECONDS)
        if tunnelled:
            connection.set_tunnel(host, port, self.proxy_credentials)
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        connection.sock.settimeout(ANSWER_SECONDS)
        return connection

    @property
    def proxy_credentials(self) -> dict[str, str]:
        """The header with the user name and password of the proxy's address; empty where there are none."""
        parts = urllib.parse.urlsplit(self.proxy or "")
        if parts.username is None:
            return {}
        pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        return {"Proxy-Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def upstreams(environment: Mapping[str, str]) -> tuple[Upstream, ...]:
    """Both APIs: ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``, ``ANTHROPIC_BASE_URL`` and ``ANTHROPIC_API_KEY`` (or ``ANTHROPIC_AUTH_TOKEN``),
    where they are missing or empty the public addresses and no key; ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` as usual.

    Raises UsageError for an address, a key or a proxy that cannot be used.
    """
    return tuple(_upstream(api, environment) for api in PUBLIC)


def _upstream(api: Provider, environment: Mapping[str, str]) -> Upstream:
    prefix = api.upper()
    base_url = environment.get(f"{prefix}_BASE_URL") or PUBLIC[api]
    parts = _address(f"{prefix}_BASE_URL", base_url, ("http", "https"), f"an address such as {PUBLIC[api]}")
    if parts.username is not None or parts.query or parts.fragment:
        shown = urllib.parse.urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        raise UsageError(f"{prefix}_BASE_URL: an address without user name, query or fragment is expected, such as {shown}.{_WAY_OUT}")
    names = [f"{prefix}_API_KEY"] + (["ANTHROPIC_AUTH_TOKEN"] if api == "anthropic" else [])
    name = next((name for name in names if environment.get(name, "").strip()), None)
    key = environment[name].strip() if name is not None else None
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise UsageError(f"{name}: a key of printable ASCII characters without spaces is expected.{_WAY_OUT}")
    return Upstream(api, base_url.rstrip("/"), key, name == "ANTHROPIC_AUTH_TOKEN", _proxy(parts, environment))


_WAY_OUT = " (--fde-metering=off leaves it alone.)"


def _address(name: str, text: str, schemes: tuple[str, ...], accepted: str) -> urllib.parse.SplitResult:
    parts = urllib.parse.urlsplit(text)
    try:
        usable = parts.scheme in schemes and bool(parts.hostname) and not re.search(r"[^!-~]", text) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # A proxy's address may hold a password.
        shown = repr(re.sub(r"//[^/@]*@", "//***@", text))
        raise UsageError(f"{name}: {accepted} is expected, found {shown}.{_WAY_OUT}")
    return parts


def _proxy(target: urllib.parse.SplitResult, environment: Mapping[str, str]) -> str | None:
    """As urllib has it: the lower-case name wins."""
    name, text = _first(environment, f"{target.scheme}_proxy")
    if not text:
        return None
    _, exempt = _first(environment, "no_proxy")
    if any(_covers(one.strip().lower(), target) for one in exempt.split(",")):
        return None
    address = text if "://" in text else f"http://{text}"
    _address(name, address, ("http",), "the address of an HTTP proxy, such as http://proxy.example:3128,")
    return address


def _first(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    found = name if environment.get(name) else name.upper()
    return found, environment.get(found, "")


def _covers(exempt: str, target: urllib.parse.SplitResult) -> bool:
    """``*``, a host, a domain with or without its dot, each with a port or without."""
    suffix = exempt.lstrip(".")
    hosts = (target.hostname or "", target.netloc.lower())
    return exempt == "*" or (bool(suffix) and any(host == suffix or host.endswith(f".{suffix}") for host in hosts))
