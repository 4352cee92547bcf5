"""Many files: loads, checks, reports, fixes, and watching for changes."""
