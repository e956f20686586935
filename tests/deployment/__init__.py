"""Tests of taking a delivery out of a workspace and running it in production."""
