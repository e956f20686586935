"""``--fde-router=llm:MODEL``: topics and gates judged by a small model behind an OpenAI-compatible endpoint.

A model that cannot be reached, or that does not answer in the form asked for, is an InfrastructureFault and makes the run void; it is
never taken for "not my area". Answers stay scripted: the model decides what is asked and shown, and writes nothing that anybody reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fdegym.chat_endpoint import ChatEndpoint, endpoint_from
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.people.router.answers import Unusable, verdict_of
from pytest_fdegym.people.router.decided import DecidedRouter
from pytest_fdegym.people.router.decision import Decision, Question, digest
from pytest_fdegym.people.router.prompts import PROMPTS, once_more, prompt_for

OPENAI = "https://api.openai.com/v1"
MAX_TOKENS = 1000
"""Tokens of an answer."""
_SHOWN = 200
"""Characters of an unusable answer that a message quotes."""


class ModelDecides:
    """Puts questions to a model, each at most twice."""

    def __init__(self, router_id: str, endpoint: ChatEndpoint) -> None:
        self._router_id = router_id
        self._endpoint = endpoint

    def __call__(self, key: str, question: Question) -> Decision:
        """Raises InfrastructureFault."""
        sent = prompt_for(question)
        completion = self._endpoint.complete(sent, MAX_TOKENS)
        try:
            verdict = verdict_of(question, completion.text)
        except Unusable as problem:
            sent = once_more(sent, completion.text, str(problem))
            completion = self._endpoint.complete(sent, MAX_TOKENS)
            try:
                verdict = verdict_of(question, completion.text)
            except Unusable as still:
                shown = " ".join(completion.text.split())[:_SHOWN]
                raise InfrastructureFault(
                    f"the router's model ({self._endpoint.model}) answered twice in another form: {still}: {shown!r}"
                ) from None
        return Decision(
            key=key,
            router=self._router_id,
            kind=question.kind,
            person=question.person,
            topic=question.topic,
            subject=digest(question.subject),
            message=digest(question.message),
            prompt=digest(sent),
            answer=completion.text,
            answered_by=completion.model,
            verdict=verdict,
        )


def router_over(endpoint: ChatEndpoint) -> DecidedRouter:
    """The router that asks the model at `endpoint`."""
    router_id = f"llm:{endpoint.model}#prompts-{PROMPTS}"
    return DecidedRouter(router_id, ModelDecides(router_id, endpoint), f"asked at {endpoint.shown_url}")


def llm_router(model: str, environ: Mapping[str, str]) -> DecidedRouter:
    """The router for `model`, at the address and with the key that the environment gives. Raises UsageError, see `endpoint_from`."""
    return router_over(endpoint_from(environ, "FDEGYM_ROUTER", model, "the router's model", OPENAI))
