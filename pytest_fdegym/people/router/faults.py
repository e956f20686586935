"""What a router raises, told from what else may fail while somebody is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_fdegym.errors import InfrastructureFault, RouterFault, ScenarioError


@contextmanager
def as_router_fault() -> Iterator[None]:
    """Turn an exception of a router's into a RouterFault; the author's mistakes stay what they are."""
    try:
        yield
    except (ScenarioError, RouterFault):
        raise
    except InfrastructureFault as error:
        raise RouterFault(str(error)) from error
    except Exception as error:
        raise RouterFault(f"the customer's side failed: {type(error).__name__}: {error}") from error
