"""The anchors a scenario must meet, above the runner."""
