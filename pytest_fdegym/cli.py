"""The command ``fdegym``: what authors of scenarios use beside pytest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pytest_fdegym._version import __version__
from pytest_fdegym.commands import COMMANDS
from pytest_fdegym.errors import FdeGymError, UsageError


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line, with a subcommand for each of `COMMANDS`."""
    parser = argparse.ArgumentParser(
        prog="fdegym", description="Write, try out and admit customer scenarios; agents are graded by pytest --fde-agent=NAME."
    )
    parser.add_argument("--version", action="version", version=f"pytest-fdegym {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").strip().splitlines()[0]
        subparser = subparsers.add_parser(
            name, help=summary, description=command.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 a scenario has problems, 2 the command line is wrong, 130 interrupted."""
    options = make_parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except UsageError as error:
        print(f"fdegym {options.command}: {error}", file=sys.stderr)
        return 2
    except FdeGymError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
