"""What the harness itself costs per delivery: CPU, apart from world building, replay, sandbox start and agent.

    python benchmarks/overhead.py [--runs 30] [--task tasks/oil_npt] [--peer]

Each delivery is `do-nothing` on the first variant of the task, engaged, handed over, deployed, measured and recorded like any other. With
``--peer`` Inspect AI is installed into a throwaway environment and runs 100 samples of a task whose solver does nothing, in the same run;
its figure is the CPU of the process from the call of ``eval`` on, per sample.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from pytest_fdegym.admission.actors import DoNothing
from pytest_fdegym.people.router import default_router
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.choose import choose
from pytest_fdegym.scenario.loader import load

PEER = """
import json, time
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import solver

@solver
def nothing():
    async def solve(state, generate):
        return state
    return solve

task = Task(dataset=[Sample(input="hello", target="hello") for _ in range(100)], solver=nothing(), scorer=match())
eval(task, model="mockllm/model", display="none")
before = time.process_time()
eval(task, model="mockllm/model", display="none")
print(json.dumps({"cpu": time.process_time() - before}))
"""


def harness(task: Path, runs: int) -> list[float]:
    """CPU milliseconds of the harness for each of `runs` deliveries, the first (which fills the caches) left out."""
    scenario = load(task)
    with (
        tempfile.TemporaryDirectory() as results,
        Settings(sandbox=choose("auto"), router=default_router(), store=Store(Path(results))) as settings,
    ):
        records = [run(Case(scenario, scenario.variants[0], "L3", run=n), DoNothing(), settings) for n in range(1, runs + 2)]
    return [1000 * record.harness_cpu_seconds for record in records[1:]]


def peer() -> float:
    """CPU milliseconds of Inspect AI per no-op sample."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        venv.create(root / "venv", with_pip=True)
        python = root / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", "inspect-ai"], check=True, stdout=sys.stderr)
        (root / "peer.py").write_text(PEER)
        result = subprocess.run([python, "peer.py"], cwd=root, check=True, capture_output=True, text=True)
    return float(1000 * json.loads(result.stdout.splitlines()[-1])["cpu"] / 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--task", type=Path, default=Path(__file__).parent.parent / "tasks" / "oil_npt")
    parser.add_argument("--peer", action="store_true", help="measure Inspect AI beside it (downloads it)")
    arguments = parser.parse_args()
    own = sorted(harness(arguments.task, arguments.runs))
    median = statistics.median(own)
    print(f"harness CPU per delivery, {arguments.task.name}: median {median:.1f} ms (min {own[0]:.1f}, max {own[-1]:.1f}, {len(own)} runs)")
    if arguments.peer:
        theirs = peer()
        print(f"Inspect AI, CPU per no-op sample: {theirs:.1f} ms (100 samples); ratio {median / theirs:.2f}")


if __name__ == "__main__":
    main()
