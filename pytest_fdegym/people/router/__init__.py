"""Routers: which topics of the addressed person a message asks about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fdegym.errors import UsageError, nearest
from pytest_fdegym.people.router.base import Candidate, GateQuestion, Judge, Judgement, RoutablePerson, Router, RouterContext, Routing

__all__ = [
    "Candidate",
    "GateQuestion",
    "Judge",
    "Judgement",
    "RoutablePerson",
    "Router",
    "RouterContext",
    "Routing",
    "default_router",
    "router_named",
]


def default_router() -> Router:
    """Return the router that is used unless another is named; a new one has an empty cache."""
    from pytest_fdegym.people.router.embedded import EmbeddedRouter  # noqa: PLC0415  (a caller who brings a router need not load this one)

    return EmbeddedRouter()


def router_named(name: str, directory: Path, environ: Mapping[str, str]) -> Router:
    """Return the router that ``--fde-router=name`` means.

    ``embedded``, ``llm:MODEL`` (see `pytest_fdegym.people.router.llm`), or ``replay:PATH``, which is relative to `directory`. Raises
    UsageError for a name, an environment or stored decisions that will not do.
    """
    kind, _, rest = name.partition(":")
    if name == "embedded":
        return default_router()
    if kind == "llm" and rest:
        from pytest_fdegym.people.router.llm import llm_router  # noqa: PLC0415  (brings an HTTP client)

        return llm_router(rest, environ)
    if kind == "replay" and rest:
        from pytest_fdegym.people.router.replay import replaying_router  # noqa: PLC0415  (seldom used)

        return replaying_router(directory / rest)
    raise UsageError(f"there is no router {name!r}.{nearest(name, ('embedded',))} Known: embedded, llm:MODEL, replay:PATH")
