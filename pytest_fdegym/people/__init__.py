"""Scripted people: pure, no I/O."""
