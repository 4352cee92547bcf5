"""Lists the agents that can be called from a folder, and what each may do."""

from __future__ import annotations

import sys
from pathlib import Path

import equipage
from equipage import Profile, Profiles
from equipage.models import AgentProfile, ProfilePrompt, Sampling, Tools


def heat(sampling: Sampling | None) -> float | None:
    return None if sampling is None else sampling.temperature


def describe(profile: Profile) -> list[str]:
    file: Path = profile.file
    lines = [f"{profile.name}: {profile.description}", f"{profile.layer}, {file.name}"]
    allowed: tuple[str, ...] = profile.tool_allow
    lines += [f"may use {tool}" for tool in allowed]
    limit = profile.request_limit
    if limit is not None and limit.number is not None:
        lines.append(f"{limit.mode}: {limit.number + 0} requests")
    for event, hooks in profile.hooks.items():
        lines.append(f"{event.upper()}: {len(hooks)} hooks")
    return lines


def raw(config: AgentProfile) -> list[str]:
    prompt: ProfilePrompt = config.prompt
    tools: Tools = config.tools
    return [prompt.text or "", *tools.allow, str(heat(config.sampling))]


def all_of(folder: Path) -> Profiles:
    return equipage.discover_profiles(folder, local=True, env={})


def main(path: str) -> list[str]:
    loaded = equipage.load(path, kind="profile", layer="project")
    lines = raw(loaded.config)
    profiles = all_of(Path(path).parent)
    for name, profile in profiles.items():
        assert profiles[name] is profile
        lines += describe(profile)
    lines += [shadowed.name for shadowed in profiles.shadowed]
    lines += [warning.code for warning in profiles.warnings]
    for name in profiles:
        lines.append(str(profiles.loaded(name).explain("description")))
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
