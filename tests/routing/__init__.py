"""Labelled messages: what a sensible reader would say they ask for."""
