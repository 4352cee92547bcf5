"""What clients do with a workspace."""
