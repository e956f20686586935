"""What the metering proxy adds to a model call: the same calls with and without it, in turns, against a provider on this machine.

    python benchmarks/metering.py [--calls 300]

Both clients keep one connection open, as the SDKs do, and read the answer to its end. A real provider takes seconds for what takes a
millisecond here, so the ratio is the worst case; the difference is what a call pays. The first calls, in which prices are loaded, are left
out.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent))

from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event
from tests.support.providers import Provider, Reply, Tokens

WARM_UP = 20


class Deaf:
    """An observer that listens to nothing."""

    def notify(self, event: Event) -> None:
        del event


def caller(base_url: str, key: str, *, streaming: bool) -> tuple[Callable[[], float], http.client.HTTPConnection]:
    """A function that makes one call and gives its milliseconds."""
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(parts.netloc)
    question = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x" * 20_000}], "stream": streaming}
    if streaming:
        question["stream_options"] = {"include_usage": True}
    body = json.dumps(question)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    def call() -> float:
        started = time.perf_counter()
        connection.request("POST", f"{parts.path}/chat/completions", body, headers)
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        return 1000 * (time.perf_counter() - started)

    return call, connection


def measure(calls: int, *, streaming: bool) -> tuple[list[float], list[float]]:
    """Milliseconds of each call, direct and through the proxy."""
    reply = Reply("word " * 400, usage=Tokens(5000, 400, 2000))
    with (
        Provider(lambda _: reply) as provider,
        Meter(upstreams(provider.environment)) as meter,
        meter.attributed(LimitTracker(Limits(None, None, None)), Deaf()) as account,
    ):
        direct, first = caller(provider.openai, provider.key, streaming=streaming)
        through, second = caller(account.environment["OPENAI_BASE_URL"], account.token, streaming=streaming)
        pairs = [(direct(), through()) for _ in range(WARM_UP + calls)][WARM_UP:]
        first.close()
        second.close()
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    arguments = parser.parse_args()
    for name, streaming in (("plain", False), ("streaming", True)):
        direct, through = map(statistics.median, measure(arguments.calls, streaming=streaming))
        print(
            f"{name}: direct {direct:.2f} ms, through the proxy {through:.2f} ms, ratio {through / direct:.2f}, "
            f"added {through - direct:.2f} ms a call (medians of {arguments.calls})"
        )


if __name__ == "__main__":
    main()
