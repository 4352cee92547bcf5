"""Skills: discover the `SKILL.md` folders of the user and project layers."""

from equipage.kinds.conventions.skill import FoundSkill, Skill, Skills, discover_skills

__all__ = ["FoundSkill", "Skill", "Skills", "discover_skills"]
