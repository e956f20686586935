"""Puts a frozen delivery into production on held-out traffic."""
