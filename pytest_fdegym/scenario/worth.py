"""The shape of worth.yaml, in which admission keeps what each key fact is worth, for reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from .model import Identifier, Model, VariantId

WORTH_FILE = "worth.yaml"
WORTH_SEED = 1
"""On which it is measured, so that all can repeat it."""

Worth = Annotated[float, Field(allow_inf_nan=False)]
"""Of a key fact, in uplift units: 1 - U_adj of the best solution that lacks it."""


class WorthFile(Model):
    """worth.yaml, which ``--fde-update-worth`` writes."""

    worth: Mapping[VariantId, Mapping[Identifier, Worth]] = Field(description="By variant and key fact, as measured on seed 1.")
