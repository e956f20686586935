"""What every room's tests may use."""

pytest_plugins = ["pytester"]
