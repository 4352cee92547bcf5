"""What other programs read and do."""
