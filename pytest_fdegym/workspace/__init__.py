"""Builds what the agent finds."""
