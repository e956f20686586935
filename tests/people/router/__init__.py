"""Tests of the routers."""
