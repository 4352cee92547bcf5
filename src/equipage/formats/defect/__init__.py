"""The `.defect` convention: agent profiles, and settings in layers."""
