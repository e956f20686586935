"""The proxy of one process: holds the keys, gives runs their accounts, and tells clients where to find it."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final, Self

from pytest_fdegym.agents.metering.account import Account, RunOver, Tracker
from pytest_fdegym.agents.metering.proxy import Desk, TcpServer, UnixServer, serving
from pytest_fdegym.agents.metering.upstream import Provider, Upstream
from pytest_fdegym.observer import Observer

TOKEN_PREFIX: Final = "sk-fdegym-"
"""Begins like a key, for clients that look at it."""
_VERSION_PATH: Final[Mapping[Provider, str]] = {"openai": "/v1", "anthropic": ""}
_PROXIES: Final = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")


class Meter(Desk):
    """A context manager; serves on 127.0.0.1 while it is open. One a process, for one run at a time.

    `environ` is, where it is given, kept pointing to the proxy while the context is open: with the session's token, and during a run with
    the run's own. A key's variable is set only where the user has a key, since its mere presence means something to agents.
    """

    def __init__(self, upstreams: Sequence[Upstream], environ: MutableMapping[str, str] | None = None) -> None:
        super().__init__()
        self._upstreams = {upstream.api: upstream for upstream in upstreams}
        self._environ = environ
        self._token = _new_token()
        self._current: Account | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            server = stack.enter_context(serving(TcpServer(self, None)))
            self._address = f"127.0.0.1:{server.server_address[1]}"
            if self._environ is not None:
                stack.enter_context(_patched(self._environ, {**self.environment, **_past_proxies(self._environ)}))
            self._open = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._open.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes clients in a process of this machine use the proxy; their calls are the current run's, whenever they were made."""
        return self._environment_of(self._address, self._token)

    @contextmanager
    def attributed(self, tracker: Tracker, observer: Observer) -> Iterator[Account]:
        """An account for one run. While the context is open, calls with the session's token or with a key of the client's own are its,
        too. At the end, calls under way are cut off and counted, and the account's own token is refused. Raises InfrastructureFault
        where the harness's own part failed.
        """
        account = Account(_new_token(), tracker, observer, self._environment_of, self._address, self._serve)
        with self._lock:
            if self._current is not None:
                raise RuntimeError("a meter serves one run at a time, and there is one already")
            self._current = account
        try:
            with nullcontext() if self._environ is None else _patched(self._environ, account.environment):
                yield account
        finally:
            with self._lock:
                self._current = None
            account.close()
        account.complain()

    # --- what the proxy asks ---

    def upstream(self, provider: Provider) -> Upstream | None:
        return self._upstreams.get(provider)

    def whose(self, credentials: Sequence[str], fixed: Account | None) -> tuple[Account | None, bool]:
        with self._lock:
            account = self._current if fixed is None else fixed
        ours = [each for each in credentials if each.startswith(TOKEN_PREFIX)]
        valid = [self._token] if account is None else [self._token, account.token]
        if not all(any(hmac.compare_digest(each.encode(), one.encode()) for one in valid) for each in ours):
            raise RunOver
        return account, bool(ours)

    def broke(self, error: Exception) -> None:
        with self._lock:
            account = self._current
        if account is not None:
            account.broke("the metering proxy", error)

    # --- private ---

    def _environment_of(self, address: str, token: str) -> dict[str, str]:
        found = {}
        for api, upstream in self._upstreams.items():
            found[f"{api.upper()}_BASE_URL"] = f"http://{address}/{api}{_VERSION_PATH[api]}"
            if upstream.key is not None:
                found["ANTHROPIC_AUTH_TOKEN" if upstream.bearer else f"{api.upper()}_API_KEY"] = token
        return found

    @contextmanager
    def _serve(self, account: Account, path: Path) -> Iterator[None]:
        path.unlink(missing_ok=True)
        server = UnixServer(self, account, path)
        try:
            with serving(server):
                path.chmod(0o666)  # Whoever confined code runs as; the folder says who gets that far.
                yield
        finally:
            path.unlink(missing_ok=True)


def _new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(24)


def _past_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """Clients that use an HTTP proxy would ask it for 127.0.0.1."""
    if not any(environ.get(name) for name in _PROXIES):
        return {}
    exempt = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    value = ",".join(filter(None, (exempt, "127.0.0.1")))
    return {"no_proxy": value, "NO_PROXY": value}


@contextmanager
def _patched(environ: MutableMapping[str, str], values: Mapping[str, str]) -> Iterator[None]:
    before = {name: environ.get(name) for name in values}
    environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value
