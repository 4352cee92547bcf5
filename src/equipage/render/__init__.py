"""Values to text: one module per format. Nothing here prints."""
