"""Confinement, tried from the inside by real processes."""
