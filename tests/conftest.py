"""What every room's tests may use, and how hypothesis works in all of them."""

from hypothesis import settings

pytest_plugins = ["pytester"]

# How long an example takes is a matter of the machine.
settings.register_profile("fdegym", deadline=None)
settings.load_profile("fdegym")
