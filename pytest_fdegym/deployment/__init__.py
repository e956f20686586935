"""Puts a frozen delivery into production on held-out traffic: ``freeze``, ``host.Deployment``, ``databases``."""
