"""Routers: which topics of the addressed person a message asks about."""

from pytest_fdegym.people.router.base import Candidate, RoutablePerson, Router, RouterContext, Routing

__all__ = ["Candidate", "RoutablePerson", "Router", "RouterContext", "Routing", "default_router"]


def default_router() -> Router:
    """Return the router that is used unless another is named; a new one has an empty cache."""
    from pytest_fdegym.people.router.embedded import EmbeddedRouter  # noqa: PLC0415  (a caller who brings a router need not load this one)

    return EmbeddedRouter()
