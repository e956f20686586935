"""USD of a model call, by the list prices in genai-prices (the extra ``prices``); a price that is not known is unknown, never 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pytest_fdegym.agents.metering.upstream import Provider
from pytest_fdegym.agents.metering.usage import Tokens

NOT_INSTALLED: Final = "genai-prices is not installed: pip install 'pytest-fdegym[prices]'"
NO_USAGE: Final = "the answer did not say how many tokens it used"
_MAKERS: Final = ("openai", "anthropic")
"""Whose models nobody else sells at another price, so that their list price stands for them behind any address."""


@dataclass(frozen=True)
class Price:
    """`usd` or, where it is None, why it is unknown."""

    usd: float | None
    unknown: str | None = None


def price(provider: Provider, base_url: str, models: tuple[str | None, ...], tokens: Tokens) -> Price:
    """What `tokens` cost at the address `base_url`, by the first of `models` (what the answer called it, what was asked for) with a price.

    At an address that genai-prices does not know, OpenAI's and Anthropic's own models are priced by their makers' lists, and no others.
    """
    if not tokens.known:
        return Price(None, NO_USAGE)
    try:
        # 0.2 seconds and an HTTP client (which is not used): paid at the first priced call only.
        import genai_prices  # noqa: PLC0415
    except ImportError:
        return Price(None, NOT_INSTALLED)
    usage: Any = genai_prices.Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_written,
        **({"cache_write_1h_tokens": tokens.cache_written_1h} if tokens.cache_written_1h else {}),
        **({"web_searches": tokens.web_searches} if tokens.web_searches else {}),
    )
    named = [model for model in dict.fromkeys(models) if model]
    for model in named:
        for place in _places(provider, base_url, model):
            try:
                found = genai_prices.calc_price(usage, **place)
            except (LookupError, ValueError):
                # ValueError: figures that contradict each other, such as more cached tokens than there were.
                continue
            listed = found.model_price
            # An entry without a price is not one that costs nothing.
            if listed.input_mtok is not None and (listed.output_mtok is not None or not tokens.output):
                return Price(float(found.total_price))
    return Price(None, f"genai-prices has no price for {' or '.join(named) or 'a model without a name'} at {base_url}")


def _places(provider: Provider, base_url: str, model: str) -> list[dict[str, Any]]:
    """Where to look for the model: at the address, else with its maker. ``anthropic/claude-...``, as gateways write it, names the maker."""
    maker, slash, name = model.partition("/")
    places: list[dict[str, Any]] = [{"model_ref": model, "provider_api_url": base_url}]
    if _has_list(base_url):
        return places
    if slash and maker in _MAKERS:
        return [*places, {"model_ref": name, "provider_id": maker}]
    first = (provider, *(maker for maker in _MAKERS if maker != provider))
    return [*places, *({"model_ref": model, "provider_id": maker} for maker in first)]


def _has_list(base_url: str) -> bool:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  (see above)

    try:
        get_snapshot().find_provider(None, None, base_url)
    except LookupError:
        return False
    return True
