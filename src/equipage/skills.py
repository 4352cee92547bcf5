"""Skills: discover the `SKILL.md` folders of the user and project layers."""

from equipage.kinds.conventions.skill import (
    DiscoveredSkill,
    FoundSkill,
    Skill,
    Skills,
    discover_skills,
)

__all__ = ["DiscoveredSkill", "FoundSkill", "Skill", "Skills", "discover_skills"]
