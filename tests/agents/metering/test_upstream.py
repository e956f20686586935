"""What the user's environment says about where models are."""

from __future__ import annotations

import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.agents.metering import Upstream, upstreams
from pytest_fdegym.errors import UsageError
from tests.agents.metering.support import HELLO, Bare, ask, run
from tests.support.providers import Provider


def test_nothing_set() -> None:
    openai, anthropic = upstreams({"OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": ""})
    assert openai == Upstream("openai", "https://api.openai.com/v1")
    assert anthropic == Upstream("anthropic", "https://api.anthropic.com")


def test_all_set() -> None:
    openai, anthropic = upstreams(
        {
            "OPENAI_BASE_URL": "http://localhost:8000/v1/",
            "OPENAI_API_KEY": "sk-1",
            "ANTHROPIC_BASE_URL": "https://gateway.example/anthropic",
            "ANTHROPIC_API_KEY": " sk-2\n",
        }
    )
    assert openai == Upstream("openai", "http://localhost:8000/v1", "sk-1")
    assert anthropic == Upstream("anthropic", "https://gateway.example/anthropic", "sk-2")
    assert openai.target("/chat/completions?a=b") == "/v1/chat/completions?a=b"
    assert anthropic.target("/v1/messages") == "/anthropic/v1/messages"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (
            {"OPENAI_BASE_URL": "localhost:8000"},
            "OPENAI_BASE_URL: an address such as https://api.openai.com/v1 is expected, found 'localhost:8000'."
            " (--fde-metering=off leaves it alone.)",
        ),
        (
            {"ANTHROPIC_BASE_URL": "https://gateway.example:port"},
            "ANTHROPIC_BASE_URL: an address such as https://api.anthropic.com is expected, found 'https://gateway.example:port'."
            " (--fde-metering=off leaves it alone.)",
        ),
        (
            {"OPENAI_BASE_URL": "https://ada:secret@gateway.example/v1?x=1"},
            "OPENAI_BASE_URL: an address without user name, query or fragment is expected, such as https://gateway.example/v1."
            " (--fde-metering=off leaves it alone.)",
        ),
        (
            {"ANTHROPIC_API_KEY": "sk one two"},
            "ANTHROPIC_API_KEY: a key of printable ASCII characters without spaces is expected. (--fde-metering=off leaves it alone.)",
        ),
        (
            {"HTTPS_PROXY": "socks5://ada:secret@proxy.example:1080"},
            "HTTPS_PROXY: the address of an HTTP proxy, such as http://proxy.example:3128, is expected, found "
            "'socks5://***@proxy.example:1080'. (--fde-metering=off leaves it alone.)",
        ),
    ],
)
def test_what_cannot_be_used(environment: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        upstreams(environment)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("exempt", "direct"),
    [
        ("", False),
        ("*", True),
        ("llm.example", True),
        (".example", True),
        ("example", True),
        ("m.example", False),
        ("other.example, LLM.example:8443", True),
        ("llm.example:443", False),
    ],
)
def test_who_is_asked_without_a_proxy(exempt: str, direct: bool) -> None:
    environment = {"OPENAI_BASE_URL": "https://llm.example:8443/v1", "https_proxy": "proxy.example:3128", "NO_PROXY": exempt}
    assert upstreams(environment)[0].proxy == (None if direct else "http://proxy.example:3128")


def test_a_plain_proxy_is_told_the_whole_address() -> None:
    with Provider([HELLO]) as provider:
        proxy = f"http://ada:s%20cret@127.0.0.1:{provider.port}"
        changes = {"OPENAI_BASE_URL": "http://llm.example/v1", "HTTP_PROXY": proxy, "no_proxy": ""}
        with run(changes=changes) as metered:
            assert ask(metered.account.environment, "chat").status == 200
        (call,) = provider.calls
        assert call.path == "http://llm.example/v1/chat/completions"
        assert call.headers["host"] == "llm.example"
        assert call.headers["proxy-authorization"] == "Basic YWRhOnMgY3JldA=="


def test_a_tunnel_for_https() -> None:
    """The proxy here refuses, and so shows what it was asked for."""
    asked: list[tuple[str, str | None]] = []

    class Refusing(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_CONNECT(self) -> None:
            asked.append((self.path, self.headers["proxy-authorization"]))
            self.send_error(403, "no way")

    with _serving(Refusing, None) as port:
        changes = {
            "OPENAI_BASE_URL": "https://llm.example/v1",
            "HTTPS_PROXY": f"http://ada:secret@127.0.0.1:{port}",
            "NO_PROXY": "localhost",
        }
        with run(changes=changes) as metered:
            answer = ask(metered.account.environment, "chat")
    assert answer.status == 502
    assert answer.message == "pytest-fdegym: https://llm.example/v1 cannot be reached: Tunnel connection failed: 403 no way"
    assert asked == [("llm.example:443", "Basic YWRhOnNlY3JldA==")]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hello(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *names], check=True, capture_output=True)
    with _serving(Hello, (certificate, key)) as port:
        for trusted in (False, True):
            if trusted:
                monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            with run(changes={"OPENAI_BASE_URL": f"https://localhost:{port}/v1"}) as metered:
                with Bare(metered.account.environment) as bare:
                    answer = bare.request("GET", "/openai/v1/models")
                assert answer.status == (200 if trusted else 502)
                assert trusted or "certificate verify failed" in answer.message


@contextmanager
def _serving(handler: type[http.server.BaseHTTPRequestHandler], certificate: tuple[Path, Path] | None) -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
