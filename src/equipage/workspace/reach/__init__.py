"""What is left of an old room."""
