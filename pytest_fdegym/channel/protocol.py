"""What travels over the channel: JSON bodies of requests and answers. Answers hold only what an agent may know."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

SOCKET_NAME = "customer.sock"
MAX_BODY = 1 << 18
"""Bytes of a request; a message itself is bounded more tightly by the conversation."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PersonCard(_Model):
    """A line of the staff directory."""

    id: str
    name: str
    role: str
    directory: str


class AskRequest(_Model):
    person: str
    message: str


class ReplyCard(_Model):
    """What a person answered. Times are the customer's calendar."""

    person: str
    text: str
    sent_at: datetime
    answered_at: datetime


class WaitRequest(_Model):
    """Either working days, or a moment of the customer's calendar."""

    days: Annotated[int, Field(ge=1, le=60)] | None = None
    until: datetime | None = None


class WaitCard(_Model):
    """Where the customer's calendar stands after waiting."""

    now: datetime
    new_mail: int


class MailCard(_Model):
    """A message in the agent's inbox."""

    sender: str
    subject: str
    text: str
    arrived_at: datetime
    new: bool
    """Not read before."""


class TrialRequest(_Model):
    """There is nothing to say: the delivered folders are taken as they stand."""


class TrialCard(_Model):
    """A trial run that was made."""

    id: str
    """Of the report, as people know it."""
    feedback: str
    """What people noticed."""
    notes: tuple[str, ...]
    """What failed in the system."""
    finished_at: datetime


class LogCard(_Model):
    """One exchange of the conversation so far."""

    person: str
    message: str
    reply: str
    sent_at: datetime
    answered_at: datetime


class StatusCard(_Model):
    """The customer's calendar, and what is left of the engagement's limits; None means unlimited or unknown."""

    now: datetime
    turns_left: int | None
    minutes_left: float | None
    usd_left: float | None


class UsageReport(_Model):
    """Model usage that an agent reports about itself since its last report."""

    turns: Annotated[int, Field(ge=0)] = 0
    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0
    usd: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None


class Problem(_Model):
    """Why a request got nothing."""

    error: str
    over: bool = False
    """The engagement has ended (handover or a limit); nothing more will be answered."""
    limit: str | None = None
    """The limit that ended it."""
