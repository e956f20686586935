"""A real model behind the gateway, at an OpenAI-compatible endpoint. What it gives is no measurement that others could repeat."""

from __future__ import annotations

import urllib.error
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from pytest_fdegym.chat_endpoint import ChatEndpoint, endpoint_from
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.gateway.protocol import Refused
from pytest_fdegym.scenario.world import GatewayRequest

PREFIX = "FDEGYM_GATEWAY"
"""Of the environment variables with the endpoint's address and key."""
OPENAI = "https://api.openai.com/v1"
ANSWER_TOKENS = 2000
_TOO_LONG = "context_length_exceeded"


@dataclass(frozen=True)
class RealModel:
    """Passes requests on, whatever name they give the model. The key stays in this process."""

    endpoint: ChatEndpoint

    @property
    def id(self) -> str:
        """``MODEL at ADDRESS``"""
        return f"{self.endpoint.model} at {self.endpoint.shown_url}"

    def answer(self, request: GatewayRequest) -> str:
        """The model's answer. Raises InfrastructureFault, or Refused where the request is longer than the model can read."""
        try:
            return self.endpoint.complete(request.messages, ANSWER_TOKENS).text
        except InfrastructureFault as fault:
            cause = fault.__cause__
            if isinstance(cause, urllib.error.HTTPError) and (cause.code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _TOO_LONG in str(fault)):
                raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the request is longer than the model can read") from None
            raise


def real_model(model: str, environ: Mapping[str, str]) -> RealModel:
    """What ``--fde-gateway-model=model`` means, with the address and the key that the environment gives. Raises UsageError."""
    return RealModel(endpoint_from(environ, PREFIX, model, "the gateway's model", OPENAI))
