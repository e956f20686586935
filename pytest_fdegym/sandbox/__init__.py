"""Confines what is not ours: the agent's commands and the delivered system."""

from pytest_fdegym.sandbox.base import Bound, Bounds, CommandResult, Layout, Sandbox, SandboxedProcess
from pytest_fdegym.sandbox.choose import choose

__all__ = ["Bound", "Bounds", "CommandResult", "Layout", "Sandbox", "SandboxedProcess", "choose"]
