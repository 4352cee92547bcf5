"""What is kept to compare with."""
