"""``--fde-gateway-model``: a real model behind the customers' gateways, and what the session says of it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from tests.pytest_side.support import usage_error
from tests.support.chat_server import ChatServer
from tests.support.tiny_gateway import write_tiny_gateway

NAMES = ("FDEGYM_GATEWAY_BASE_URL", "FDEGYM_GATEWAY_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    with ChatServer(lambda chat: "letter") as server:
        monkeypatch.setenv("FDEGYM_GATEWAY_BASE_URL", server.url)
        yield server


@pytest.fixture
def posts(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose only task is that of a customer with a gateway."""
    pytester.makeini("[pytest]\naddopts = --strict-markers --fde-tasks=tasks\n")
    write_tiny_gateway(pytester.path / "tasks" / "tiny_post")
    return pytester


def test_header_summary_record_and_properties_say_so(posts: pytest.Pytester, server: ChatServer) -> None:
    result = posts.runpytest(
        "--fde-agent=solution:shortcuts/asks_the_model",
        "--fde-gateway-model=large-9",
        "--junitxml=junit.xml",
        "-k",
        "v1",
        "--fde-gate=none",
    )
    result.assert_outcomes(passed=1, deselected=1)
    warning = (
        f"WARNING: large-9 at {server.url} answers at the customers' LLM gateways: results of customers that have one cannot be compared "
        "with others"
    )
    lines = result.outlines
    assert f"fdegym: {warning}" in lines, "in the header"
    assert warning in lines, "and after the averages"
    properties = {each.attrib["name"]: each.attrib["value"] for each in ET.parse(posts.path / "junit.xml").getroot().iter("property")}
    assert properties["fde.gateway"] == f"large-9 at {server.url}"
    (record,) = (posts.path / ".fdegym/results").rglob("*.json")
    assert json.loads(record.read_text())["gateway"] == f"large-9 at {server.url}"


def test_the_simulated_model_needs_no_word(posts: pytest.Pytester) -> None:
    result = posts.runpytest("--fde-agent=solution:shortcuts/asks_the_model", "--junitxml=junit.xml", "-k", "v1", "--fde-gate=none")
    result.stdout.no_fnmatch_line("*WARNING: *gateway*")
    properties = {each.attrib["name"]: each.attrib["value"] for each in ET.parse(posts.path / "junit.xml").getroot().iter("property")}
    assert properties["fde.gateway"] == "simulated"


@pytest.mark.parametrize("more", [[], ["--collect-only"]])
def test_a_model_without_an_endpoint_is_refused_before_anything_runs(
    posts: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    assert usage_error(posts.runpytest("--fde-agent=reference", "--fde-gateway-model=large-9", *more)) == (
        "the gateway's model needs a key: set FDEGYM_GATEWAY_API_KEY or OPENAI_API_KEY, or FDEGYM_GATEWAY_BASE_URL for an endpoint of "
        "your own."
    )


def test_the_anchors_hold(posts: pytest.Pytester) -> None:
    result = posts.runpytest("--fde-admission", "--fde-seed=1-2", "-k", "reference or expert or do_nothing or asks_the_model")
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
