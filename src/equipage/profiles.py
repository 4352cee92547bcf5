"""Profiles: discover the agents of the user and project layers."""

from equipage.kinds.defect.profile import Profile, Profiles, discover_profiles

__all__ = ["Profile", "Profiles", "discover_profiles"]
