"""What calls cost, and when that is not known."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from pytest_fdegym.agents.metering.prices import Price, price
from pytest_fdegym.agents.metering.usage import Tokens

OPENAI = "https://api.openai.com/v1"
HERE = "http://127.0.0.1:8000/v1"
MILLION = Tokens(1_000_000, 0)


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        (Tokens(1_000_000, 0), 2.50),
        (Tokens(0, 1_000_000), 10.00),
        (Tokens(1_000_000, 0, cached=1_000_000), 1.25),
        (Tokens(1_000_000, 100_000, cached=400_000), 0.6 * 2.50 + 0.4 * 1.25 + 1.00),
        (Tokens(0, 0), 0.0),
    ],
)
def test_cached_tokens_have_their_own_rate(tokens: Tokens, usd: float) -> None:
    assert price("openai", OPENAI, ("gpt-4o-2024-08-06",), tokens).usd == pytest.approx(usd)


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        (Tokens(1_000_000, 0, cached=1_000_000), 0.03),
        (Tokens(1_000_000, 0, cache_written=1_000_000), 0.30),
        (Tokens(1_000_000, 1_000_000, cached=500_000, cache_written=250_000), 0.25 * 0.25 + 0.5 * 0.03 + 0.25 * 0.30 + 1.25),
    ],
)
def test_so_has_what_is_written_into_the_cache(tokens: Tokens, usd: float) -> None:
    assert price("anthropic", "https://api.anthropic.com", ("claude-3-haiku-20240307",), tokens).usd == pytest.approx(usd)


def test_an_hour_in_the_cache_costs_more() -> None:
    five_minutes, hour = (
        price("anthropic", HERE, ("claude-sonnet-4-20250514",), Tokens(1000, 0, cache_written=1000, cache_written_1h=part)).usd
        for part in (0, 1000)
    )
    assert five_minutes == pytest.approx(1000 * 3.75 / 1e6)
    assert hour == pytest.approx(1000 * 6.00 / 1e6)


@pytest.mark.parametrize(
    ("provider", "base_url", "model", "known"),
    [
        ("openai", HERE, "gpt-4o", True),
        ("openai", HERE, "claude-3-haiku-20240307", True),
        ("openai", HERE, "anthropic/claude-3-haiku-20240307", True),
        ("openai", HERE, "openai/gpt-4o", True),
        ("anthropic", "https://gateway.example", "claude-3-haiku-20240307", True),
        ("openai", HERE, "llama-3.3-70b", False),
        ("openai", HERE, "deepseek-chat", False),
        ("openai", OPENAI, "ft:gpt-4o:acme::7", False),
        ("openai", OPENAI, "gpt-of-next-year", False),
        ("openai", OPENAI, "claude-3-haiku-20240307", False),
        ("openai", "https://api.deepseek.com", "deepseek-chat", True),
    ],
)
def test_which_models_have_a_price(provider: Any, base_url: str, model: str, known: bool) -> None:
    found = price(provider, base_url, (model,), MILLION)
    if known:
        assert found.usd is not None
        assert found.usd > 0
        assert found.unknown is None
    else:
        assert found == Price(None, f"genai-prices has no price for {model} at {base_url}")


def test_what_was_asked_for_serves_where_the_answers_own_name_has_no_price() -> None:
    assert price("openai", OPENAI, ("a-deployment-of-ours", "gpt-4o-2024-08-06"), MILLION).usd == 2.5
    assert price("openai", OPENAI, (None, None), MILLION).unknown == f"genai-prices has no price for a model without a name at {OPENAI}"


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(5, None), Tokens(None, 5)])
def test_no_usage_no_price(tokens: Tokens) -> None:
    assert price("openai", OPENAI, ("gpt-4o",), tokens) == Price(None, "the answer did not say how many tokens it used")


def test_figures_that_contradict_each_other_have_no_price() -> None:
    assert price("openai", OPENAI, ("gpt-4o",), Tokens(10, 5, cached=11)).usd is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "genai_prices":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    found = price("openai", OPENAI, ("gpt-4o",), MILLION)
    assert found == Price(None, "genai-prices is not installed: pip install 'pytest-fdegym[prices]'")
