"""Resolves and adapts agents."""
