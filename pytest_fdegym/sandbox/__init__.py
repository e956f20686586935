"""Confines what is not ours: the agent's commands and the delivered system."""
