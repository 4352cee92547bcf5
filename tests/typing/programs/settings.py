"""Shows the settings that hold in a folder, and which layer each one comes from."""

from __future__ import annotations

import sys
from pathlib import Path

import equipage
from equipage import LoadedSettings, load_settings
from equipage.models import Provider, Sandbox, Settings, Turn


def provider_lines(name: str, provider: Provider) -> list[str]:
    models = [model if isinstance(model, str) else model.id for model in provider.models]
    return [f"{name}: {', '.join(models)}"]


def describe(settings: Settings) -> list[str]:
    turn: Turn = settings.turn
    sandbox: Sandbox = settings.sandbox
    lines = [f"at most {turn.request_limit} requests", f"sandbox {sandbox.mode}"]
    for name, provider in settings.providers.items():
        lines += provider_lines(name, provider)
    model: str | None = settings.default.model
    lines.append(model or "no default model")
    for server, entry in settings.mcp.servers.items():
        lines.append(f"{server}: {entry.command or entry.url}")
    return lines


def merged(folder: Path) -> LoadedSettings:
    return load_settings(folder, local=True, env={})


def main(path: str) -> list[str]:
    loaded = equipage.load(path, kind="settings", layer="project", env={})
    lines = describe(loaded.config)
    same = equipage.load(path, Settings, env={})
    assert same.config == loaded.config
    whole = merged(Path(path).parent)
    lines += describe(whole.config)
    for source in whole.sources:
        lines.append(f"{source.name} {source.sha256[:8]}")
    explanation = loaded.explain("default.model")
    lines += [step.how for step in explanation.steps]
    if explanation.variables:
        lines.append("depends on the environment")
    lines += [f"{each.severity} {each.code}" for each in loaded.warnings]
    return lines


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
