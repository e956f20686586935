"""What a replay may use, all in all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplayBounds:
    """Bounds of one replay; beside them each call has the ``seconds`` of its entry point."""

    total_seconds: float = 120
    """Wall time in which production waits for the delivered system, all calls together."""
    gateway_seconds: float = 1800
    """Wall time in which the system waits for the company's gateway, all calls together, that does not count as its own."""
    load_seconds: float = 20
    """Wall time for importing the file of an entry point."""
    insert_seconds: float = 10
    """Wall time for one insert of production's."""
    memory_bytes: int = 1 << 30
    output_bytes: int = 1 << 20
    """What one process may write to standard output and error; Python's own streams are cut at half of it and nothing happens."""
    reply_bytes: int = 8 << 20
    """Length of one call's answer as JSON."""
    replies_bytes: int = 256 << 20
    """Memory that all answers together may take in the harness (estimated from their length and number of values)."""
    file_bytes: int = 64 << 20
    """Size of a single file, databases included; raised to four times the largest database as built."""
    disk_bytes: int = 512 << 20
    """What the delivery may write to disk in all."""
    files: int = 50_000
    """Files it may leave."""
    processes: int = 64
    restarts: int = 5
