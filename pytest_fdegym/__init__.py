"""A pytest plugin that turns deliveries to scripted customers into graded test runs."""

from typing import TYPE_CHECKING

from pytest_fdegym._version import __version__

if TYPE_CHECKING:
    from pytest_fdegym.agents.engagement import Engagement

__all__ = ["Engagement", "__version__"]


def __getattr__(name: str) -> object:
    # Imported when first asked for: pytest imports this package at every start, and an ordinary session must not pay for it.
    if name == "Engagement":
        from pytest_fdegym.agents.engagement import Engagement  # noqa: PLC0415  (see above)

        return Engagement
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
