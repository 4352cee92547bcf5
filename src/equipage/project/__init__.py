"""What one file belongs to: the settings of its project, its kind, the formats there are."""
