"""Attacks, one module per row of the table in docs/security.md."""
