"""A real coding agent from the npm registry, through a whole run."""
