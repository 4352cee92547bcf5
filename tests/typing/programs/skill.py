"""Lists skills, whichever tool they are for."""

from __future__ import annotations

import sys
from pathlib import Path

import equipage
from equipage import Skills, discover_skills
from equipage.models import AgentSkillsSkill, ClaudeCodeSkill, Skill, SkillTriggers

AnySkill = Skill | AgentSkillsSkill | ClaudeCodeSkill


def triggers(found: SkillTriggers) -> list[str]:
    return [*found.globs, *found.keywords]


def describe(skill: AnySkill) -> list[str]:
    lines = [f"{skill.name}: {skill.description}", f"{len(skill.body)} characters"]
    if isinstance(skill, Skill):
        always: bool = skill.always
        lines += ["always"] if always else triggers(skill.triggers)
        lines += skill.allowed_tools
    elif isinstance(skill, ClaudeCodeSkill):
        lines.append(skill.when_to_use or "whenever it fits")
        effort = skill.effort
        if isinstance(effort, int):
            lines.append(f"effort {effort + 0}")
    return lines


def of_defect(folder: Path) -> Skills:
    return discover_skills(folder, local=True, env={})


def main(path: str) -> list[str]:
    config = equipage.load(path, kind="skill").config
    lines: list[str] = []
    if isinstance(config, Skill | AgentSkillsSkill | ClaudeCodeSkill):
        lines += describe(config)
    skills = of_defect(Path(path).parent)
    for name, skill in skills.items():
        file: Path = skill.file
        layer: str = skill.layer
        lines += [name, *describe(skill), f"{layer}: {file.name}"]
    report = equipage.check_files({"skills/a/SKILL.md": b"---\nname: a\n---\n"})
    for row in report.rows():
        lines.append(f"{row.file}:{row.line} {row.code}")
    text = "---\nname: b\ndescription: c\n---\nd"
    lines.append(str(equipage.loads(text, AgentSkillsSkill, embedded=True).config.name))
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
