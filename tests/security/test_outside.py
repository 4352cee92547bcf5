"""Files outside the allowed folders: not opened by what judges a tree, and never quoted.

`load`, `show` and `check` read absolute paths of a server that the user named (EC-LOAD-014). Every
other command, and a check of a folder, reads the project, the library and the folders of `--root`,
and no message, excerpt, path or help of any of them holds text from elsewhere.
"""

from __future__ import annotations

import json
import os
import traceback
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.cli import main

CANARY = "c4n4ry"
TEXTS = {
    "a.yaml": f"{CANARY}-key: {CANARY}-value\n{CANARY}: [5]\n",
    "b.md": f"---\nname: {CANARY} name\n{CANARY}-key: 5\ndescription: 7\ntols: {CANARY}\n---\nx\n",
    "c.toml": f'prompt = "{CANARY}"\n{CANARY} = 1\ndescription = 5\n',
    "d.json": f'{{"mcpServers": {{"{CANARY}": {{"{CANARY}k": 1, "type": "{CANARY}t"}}}}}}',
    "e.txt": f"{CANARY} folded\n  text\n",
}
FORMATS = ("text", "json", "sarif", "github")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name, text in TEXTS.items():
        (outside / name).write_text(text)
    inside = tmp_path / "project"
    (inside / ".git").mkdir(parents=True)
    monkeypatch.chdir(inside)
    return inside


def server(*references: str) -> str:
    lines = ["server: {name: x}", "tools:"]
    lines += [f"- {{$include: {each}}}" for each in references]
    for each in references:
        lines += [
            f"- tool: {{name: {{$file: {each}}}, description: d, inputSchema: {{$file: {each}}}}}",
            f"  response: {{content: [{{type: {{$file: {each}}}, text: x}}]}}",
        ]
    return "\n".join(lines) + "\n"


def test_a_check_does_not_open_absolute_paths(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = project.parent / "outside"
    references = (f"{outside}/a.yaml", f"{outside}/e.txt", "/nowhere.yaml")
    (project / "s.yaml").write_text(server(*references))
    asked: list[str] = []
    for name in ("open", "stat", "lstat", "readlink"):
        original = getattr(os, name)

        def spy(path: object, *rest: object, _original: Any = original, **more: object) -> object:
            asked.append(str(path))
            return _original(path, *rest, **more)

        monkeypatch.setattr(os, name, spy)
    report = equipage.check(["."], env={})
    monkeypatch.undo()
    assert {each.code for each in report.diagnostics} == {"absolute-unread"}
    assert asked
    assert not [each for each in asked if str(outside) in each or "nowhere" in each]


def test_a_command_line_can_allow_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = project.parent / "outside"
    (project / "s.yaml").write_text(server(f"{outside}/e.txt"))
    main(["check", "--allow-absolute", "."])
    assert "error[wrong-type]" in capsys.readouterr().out
    main(["check", "--root", str(outside), "."])
    assert "absolute-unread" not in capsys.readouterr().out
    (project / "equipage.toml").write_text("allow-absolute = true\n")
    main(["check", "."])
    assert "absolute-unread" in capsys.readouterr().out


@pytest.mark.requirement("EC-LOAD-014")
@pytest.mark.parametrize("directive", ["$include", "$file"])
def test_a_check_of_a_named_file_says_what_show_says(
    project: Path, directive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = project.parent / "outside/d.json"
    text = (
        "server: {{name: x}}\n"
        "tools:\n"
        "- tool: {{name: t, description: d, inputSchema: {{type: object, default: {{{}: {}}}}}}}\n"
        "  response: {{content: [{{type: text, text: a}}]}}\n"
    )
    for reference, ok in ((there, True), ("/nonexistent/t.yaml", False)):
        (project / "s.yaml").write_text(text.format(directive, reference))
        for arguments in (["check", "s.yaml"], ["check", "--kind", "server", "./s.yaml"]):
            assert main([*arguments, "--output-format", "concise"]) == (0 if ok else 1)
        found = capsys.readouterr().out
        assert "warning[absolute-path]" in found if ok else "-not-found]" in found
        assert CANARY not in found
        assert equipage.check(["s.yaml"], env={}).ok is ok
        assert main(["show", "s.yaml"]) == (0 if ok else 1)
        capsys.readouterr()
        # The same file, met on a walk, and by commands that judge trees.
        assert [each.code for each in equipage.check(["."], env={}).warnings] == ["absolute-unread"]
        main(["list", "s.yaml"])
        assert "nonexistent" not in capsys.readouterr().out


def test_absolute_paths_inside_the_project_are_read(project: Path) -> None:
    (project / "text.txt").write_text("hello")
    (project / "s.yaml").write_text(
        "server: {name: x}\ntools:\n"
        "- tool: {name: a, description: d, inputSchema: {type: object}}\n"
        f"  response: {{content: [{{type: text, text: {{$file: {project}/text.txt}}}}]}}\n"
    )
    report = equipage.check(["."], env={})
    assert [each.code for each in report.diagnostics] == ["absolute-path"]
    assert report.files[0].ok


@pytest.mark.parametrize("form", FORMATS)
def test_no_text_from_outside_is_quoted(
    project: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = project.parent / "outside"
    references = [f"{outside}/{name}" for name in TEXTS]
    (project / "s.yaml").write_text(server(*references))
    (project / ".defect/agents/z").mkdir(parents=True)
    (project / ".claude/agents").mkdir(parents=True)
    links = {
        ".defect/agents/z/config.toml": "c.toml",
        ".defect/agents/q.md": "b.md",
        ".defect/config.toml": "c.toml",
        ".claude/agents/a.md": "b.md",
        ".mcp.json": "d.json",
        "equipage.toml": "c.toml",
        "x.tool.yaml": "a.yaml",
    }
    for name, target in links.items():
        (project / name).symlink_to(outside / target)
    named = [name for name in links if name != "equipage.toml"]
    for arguments in (["."], [*named, "s.yaml"], ["--allow-absolute", "."]):
        main(["check", "--output-format", form, *arguments])
        assert CANARY not in "".join(capsys.readouterr())
    main(["show", "s.yaml"])
    assert CANARY not in "".join(capsys.readouterr())


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="this system has no /proc")
@pytest.mark.parametrize(
    "reference", ["/proc/self/environ", "/proc/self/root/etc/passwd", "//proc/self/cmdline"]
)
def test_what_a_system_says_about_itself_is_never_read(project: Path, reference: str) -> None:
    (project / "s.yaml").write_text(server(reference))
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("s.yaml", env={})
    assert {each.code for each in caught.value.errors} == {"file-not-regular"}


def test_options_of_one_kind_may_be_given_to_a_check(project: Path) -> None:
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/a.md").write_text("---\nname: a\ndescription: d\n---\nx\n")
    (project / "s.yaml").write_text(server("/nowhere.yaml"))
    report = equipage.check(["."], env={}, allow_absolute=False)
    assert {each.code for each in report.diagnostics} == {"reference-absolute"}
    with pytest.raises(equipage.UsageError, match="allow_absolut"):
        equipage.check(["."], env={}, allow_absolut=False)


def test_values_of_variables_are_in_no_encoded_report(project: Path) -> None:
    import msgspec

    (project / "s.yaml").write_text("server: {name: ${NAME}, version: 5}\ntools: 7\n")
    report = equipage.check(["."], env={"NAME": CANARY})
    assert CANARY not in json.dumps(msgspec.to_builtins(report, enc_hook=repr), default=repr)


@pytest.mark.parametrize("text", ["tools: [{x: '${NAME}'}]\n", "tools: []\n${NAME}: 1\nz: [\n"])
def test_values_of_variables_are_in_no_traceback(
    project: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Programs that report errors show local variables, whatever frame they are in."""
    monkeypatch.setenv("NAME", CANARY)
    (project / "s.yaml").write_text("server: {name: '${NAME}'}\n" + text)
    with pytest.raises(equipage.LoadError) as caught:
        equipage.load("s.yaml", kind="server")
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    ours = [each for each in frames if "equipage" in Path(each.filename).parts]
    assert ours
    assert not [each.name for each in ours if CANARY in str(each.locals)]
