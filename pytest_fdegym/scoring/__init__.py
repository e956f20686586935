"""Pure arithmetic of uplift, score and averages."""
