"""From the option ``model`` to a model of pydantic-ai: PROVIDER:NAME, or package.module:NAME for one that somebody wrote."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import get_args

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import KnownModelName, Model, infer_model
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.providers import infer_provider_class

from pytest_fdegym.agents.options import described, own_traceback
from pytest_fdegym.errors import AgentNotFound, UsageError, nearest


def named_model(name: str, directory: Path) -> str | Model:
    """What `name` means: the name again, if it is pydantic-ai's (its client is made in the run, for the run's event loop and environment),
    or the model that somebody wrote.

    ``package.module:NAME`` is a Model, or a function as FunctionModel takes it; the module is looked for in `directory` too, after all
    other places. Raises UsageError for a name that nobody knows, a provider whose package is missing, and a key that is not set.
    """
    option = f"--fde-agent-opt model={name}"
    if not _has_provider(name):
        found = _written(name, option, directory)
        if found is None:
            raise UsageError(
                f"{option}: pydantic-ai knows no such model.{_nearest(name)} PROVIDER:NAME is expected, or package.module:NAME."
            )
        return found
    try:
        infer_model(name)
    except UserError as error:
        raise UsageError(f"{option}: {str(error).partition(' To try Pydantic AI without')[0]}") from None
    except ImportError as error:
        raise UsageError(f"{option}: {error}") from None
    except Exception as error:
        raise AgentNotFound(f"{option}: making its client failed\n{own_traceback(error)}") from None
    return name


def _has_provider(name: str) -> bool:
    """Whether it is a model of a provider that pydantic-ai has; it lists but some of the models themselves."""
    provider, colon, model = name.partition(":")
    if name == "test" or not (colon and model):
        return name == "test"
    try:
        infer_provider_class(provider)
    except ValueError:
        return False
    except ImportError:  # of the provider's own package
        pass
    return True


def _written(name: str, option: str, directory: Path) -> Model | None:
    """The model or the function that a module holds; None if there is no such module."""
    module_name, _, attribute = name.partition(":")
    if not attribute or not all(part.isidentifier() for part in module_name.split(".")):
        return None
    if str(directory) not in sys.path:
        sys.path.append(str(directory))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module_name}.".startswith(f"{error.name}."):
            return None
        raise AgentNotFound(f"{option}: importing {module_name} failed\n{own_traceback(error)}") from None
    if not hasattr(module, attribute):
        raise AgentNotFound(f"{option}: {module_name} has no {attribute!r}.{nearest(attribute, vars(module))}")
    found = getattr(module, attribute)
    if isinstance(found, Model):
        return found
    if callable(found) and not isinstance(found, type):
        return FunctionModel(found)
    raise AgentNotFound(f"{option} is {described(found)}; a model of pydantic-ai is expected, or a function as its FunctionModel takes it.")


def _nearest(name: str) -> str:
    known = [each for each in get_args(KnownModelName.__value__) if ":" in each]
    provider, colon, model = name.partition(":")
    if not colon:
        # A model without its provider.
        known.sort(key=lambda each: not each.startswith(("openai:", "anthropic:", "google:")))  # many others offer the same models
        return next((f" Did you mean {each!r}?" for each in known if each.partition(":")[2] == name), "") or nearest(name, known)
    providers = {each.partition(":")[0] for each in known}
    by_provider = nearest(provider, providers)
    return by_provider.replace("'?", f":{model}'?") if model else nearest(name, known)
