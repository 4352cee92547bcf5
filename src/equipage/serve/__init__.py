"""Running and serving what was loaded. Nothing that checks, loads or edits imports this room."""
