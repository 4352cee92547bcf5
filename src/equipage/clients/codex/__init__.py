"""What Codex reads and does."""
