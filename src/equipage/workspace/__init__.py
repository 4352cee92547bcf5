"""Many files: project settings, loads, checks, reports, fixes, and watching for changes."""
