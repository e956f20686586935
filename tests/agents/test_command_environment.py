"""The environment of a command agent."""

from __future__ import annotations

from pytest_fdegym.agents.command_environment import environment, redacted

USER = {
    "LANG": "de_DE.UTF-8",
    "TZ": "Europe/Berlin",
    "SSL_CERT_FILE": "/certificates.pem",
    "https_proxy": "http://proxy:3128",
    "OPENAI_API_KEY": "sk-real",
    "GITHUB_TOKEN": "secret-1",
    "MY_LOGIN": "login-of-mine",
    "PYTEST_ADDOPTS": "-x",
    "PYTHONPATH": "/lib",
    "LD_PRELOAD": "/lib.so",
}
ALWAYS = {"TERM": "dumb", "NO_COLOR": "1", "DO_NOT_TRACK": "1", "NO_UPDATE_NOTIFIER": "1"}


def test_a_short_list_is_inherited_and_nothing_else() -> None:
    assert environment(USER, (), network=False) == {
        **ALWAYS,
        "LANG": "de_DE.UTF-8",
        "TZ": "Europe/Berlin",
        "SSL_CERT_FILE": "/certificates.pem",
    }


def test_what_the_user_names_is_let_through_but_never_pytests() -> None:
    found = environment(USER, ("MY_LOGIN", "NOT_SET", "PYTEST_ADDOPTS"), network=False)
    assert set(found) - set(ALWAYS) == {"LANG", "TZ", "SSL_CERT_FILE", "MY_LOGIN"}


def test_proxies_go_with_the_network() -> None:
    assert environment(USER, (), network=True)["https_proxy"] == "http://proxy:3128"


def test_values_are_not_kept() -> None:
    text = "login-of-mine! secret-1 ab"
    assert redacted(text, {**USER, "SHORT": "ab"}, ("MY_LOGIN", "SHORT", "NOT_SET")) == "[MY_LOGIN]! secret-1 ab"
