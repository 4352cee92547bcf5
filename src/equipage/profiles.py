"""Profiles: discover the agents of the user and project layers."""

from equipage.kinds.defect.profile_discovery import Profile, Profiles, discover_profiles

__all__ = ["Profile", "Profiles", "discover_profiles"]
