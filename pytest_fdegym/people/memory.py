"""What one person remembers of the agent's messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pytest_fdegym.people.gates import Named, Shown

FREE_READS = 2
"""Free replies in a row after which a further message that costs nothing leaves nothing behind, and asks again for nothing refused.

Without the bound, values could be tried out free of charge: on a topic that stalls, say, while another topic's gate keeps what it saw.
"""


@dataclass(frozen=True)
class Memory:
    """State of the conversation with one person; replaced, never changed."""

    shown: Shown = field(default_factory=dict)
    """Evidence that messages to this person have shown, for all of the person's gates."""
    named: Named = field(default_factory=dict)
    """What else of the kind messages to this person have named, for all of the person's gates."""
    passed: frozenset[str] = frozenset()
    """Topics whose evidence was once complete."""
    refused: tuple[str, ...] = ()
    """Topics refused for want of evidence or of something required and not answered since, the latest last."""
    due: Mapping[str, datetime] = field(default_factory=dict)
    """When the answer to a topic that stalled is there."""
    recent: tuple[str, ...] = ()
    """Topics of the last reply that had any."""
    asked_back: tuple[str, ...] = ()
    """Candidates of the question that the person has just asked back."""
    asked_back_in_a_row: int = 0
    free_in_a_row: int = 0
