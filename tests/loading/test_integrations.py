"""What other programs take from equipage, and rules that installed packages bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage import Format, LoadError, Problem
from lab import in_process, write
from loading.test_own_formats import APP, FILES, App

pytest_plugins = ["equipage.integrations.pytest"]


def test_a_fixture_loads_files_with_a_format(equipage_format: Any) -> None:
    loaded = equipage_format(APP, {"app.yaml": FILES["app.yaml"], **FILES})
    assert loaded.config.tools[0].timeout == 99
    with pytest.raises(LoadError):
        equipage_format(Format(App), {"b.yaml": "name: 5"})


def test_a_source_of_pydantic_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = pytest.importorskip("pydantic_settings")
    from equipage.integrations.pydantic_settings import EquipageSource

    class Settings(settings.BaseSettings):  # type: ignore[misc, name-defined]
        name: str
        prompt: str
        tools: list[dict[str, Any]]

        @classmethod
        def settings_customise_sources(cls, settings_cls: Any, **_sources: Any) -> Any:
            layers = ("base.yaml", equipage.FILE, "local.yaml")
            merge = {"tools": equipage.by("name")}
            return (EquipageSource(settings_cls, "app.yaml", layers=layers, merge=merge, env={}),)

    monkeypatch.chdir(write(tmp_path, FILES))
    found = Settings()
    assert (found.name, found.prompt, found.tools[0]["timeout"]) == ("demo", "Be kind.", 99)
    Path("base.yaml").write_text("tools: [{$include: no.yaml}]")
    with pytest.raises(LoadError, match="Include not found"):
        Settings()


def test_files_of_a_format_are_found_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, {**FILES, "sub/other.yaml": "{name: o, prompt: p}"}))
    found = APP.discover(".", env={})
    assert {name: each.config.name for name, each in found.items()} == {
        "app.yaml": "demo",
        "sub/other.yaml": "o",
    }
    locked = found["sub/other.yaml"].lock()
    assert (locked["kind"], [*locked["files"]]) == ("app", ["sub/other.yaml"])
    write(tmp_path, {"sub/other.yaml": "{name: 5}", "sub/third.yaml": "a: 1"})
    with pytest.raises(LoadError) as raised:
        APP.discover(".", env={})
    assert {each.name for each in raised.value.errors} == {"sub/other.yaml", "sub/third.yaml"}
    with pytest.raises(equipage.UsageError, match="there is no folder nowhere"):
        APP.discover("nowhere")


def asks_for_a_model(agent: Any) -> Iterator[Problem]:
    if agent.model is None:
        yield Problem("model", "our agents name their model", code="model-named")


class Entry:
    """An entry point, as an installed package has it."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value, self.dist = name, "policy:RULES", None
        self._given = value

    def load(self) -> Any:
        if isinstance(self._given, Exception):
            raise self._given
        return self._given


def test_installed_rules_are_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [
        Entry("company", {"claude-agent": (asks_for_a_model,)}),
        Entry("broken", ImportError("no module named x")),
        Entry("odd", 5),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    agent = ".claude/agents/a.md"
    monkeypatch.chdir(write(tmp_path, {agent: "---\nname: a\ndescription: b\n---\nDo.\n"}))
    assert in_process(["check", "."]).code == 0
    done = in_process(["check", ".", "--rules", "company", "-f", "concise"])
    assert done.code == 1
    assert f"{agent}:2:1: error[model-named] our agents name their model" in done.out
    for name, said in (
        ("no", "no installed package has rules named `no` (known: broken, company, odd)"),
        ("broken", "the rules `broken` cannot be loaded: `policy:RULES` raises ImportError"),
        ("odd", "the rules `odd` are not a mapping"),
    ):
        done = in_process(["check", ".", "--rules", name])
        assert (done.code, said in done.err) == (2, True), done.err
    own = write(tmp_path / "home", {"equipage/config.toml": 'rules = ["company"]'})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
    assert in_process(["check", "."]).code == 1
    (own / "equipage" / "config.toml").write_text("rules = 5")
    assert in_process(["check", "."]).code == 2
