"""Headers that may be taken for something else: each grammar has its table, and every reading is
one of its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab import write

from . import world
from .world import load

BOM = "\ufeff"

#: Text → (what an agent file comes to, what a profile comes to): the prompt, or the code of the
#: error.
TABLE = {
    "plain": ("---\nname: a\ndescription: d\n---\nBody.\n", "Body.\n", "unknown-field"),
    "a fence in a block": ("---\nname: a\ndescription: |\n  x\n  ---\n  y\n---\nBody.\n", "Body.\n", None),
    "a fence in quotes": ("---\nname: a\ndescription: '---'\n---\nBody.\n", "Body.\n", None),
    "a fence in quotes over lines": ("---\nname: a\ndescription: 'x\n---\ny'\n---\nBody.\n", None, None),
    "a fence in the body": ("---\nname: a\ndescription: d\n---\nBody\n---\nmore\n", "Body\n---\nmore\n", None),
    "four dashes": ("----\nname: a\n----\nBody.\n", None, None),
    "a fence with text": ("--- # x\nname: a\n---\nBody.\n", None, None),
    "a closing fence with text": ("---\nname: a\ndescription: d\n--- x\nBody.\n", None, None),
    "no final newline": ("---\nname: a\ndescription: d\n---", "", None),
    "no body": ("---\nname: a\ndescription: d\n---\n", "", None),
    "never closed": ("---\nname: a\ndescription: d\nBody.\n", None, None),
    "only a fence": ("---\n", None, None),
    "only fences": ("---\n---\n", None, None),
    "empty": ("", None, None),
    "no header": ("Body.\n", None, None),
    "a byte order mark": (f"{BOM}---\nname: a\ndescription: d\n---\nBody.\n", None, None),
    "two byte order marks": (f"{BOM}{BOM}---\nname: a\ndescription: d\n---\nBody.\n", None, None),
    "a byte order mark inside": (f"---\n{BOM}name: a\ndescription: d\n---\nBody.\n", None, None),
    "carriage returns": ("---\r\nname: a\r\ndescription: d\r\n---\r\nBody.\r\n", "Body.\r\n", None),
    "old line breaks": ("---\rname: a\rdescription: d\r---\rBody.\r", None, None),
    "mixed line breaks": ("---\r\nname: a\ndescription: d\n---\r\nBody.\n", "Body.\n", None),
    "blank lines before": ("\n\n---\nname: a\ndescription: d\n---\nBody.\n", None, None),
    "spaces before": ("  ---\nname: a\ndescription: d\n---\nBody.\n", None, None),
    "an indented closing fence": ("---\nname: a\ndescription: d\n  ---\nBody.\n", None, None),
    "dots": ("---\nname: a\ndescription: d\n...\nBody.\n", None, None),
    "a second document": ("---\nname: a\n...\n---\nname: b\n---\nBody.\n", None, None),
    "plus signs": ("+++\nname = 'a'\ndescription = 'd'\n+++\nBody.\n", None, None),
    "mixed fences": ("---\nname: a\ndescription: d\n+++\nBody.\n", None, None),
    "a line separator": ("---\u2028name: a\u2028---\u2028Body.\n", None, None),
    "a next line": ("---\x85name: a\x85---\x85Body.\n", None, None),
    "a form feed": ("---\f\nname: a\n---\nBody.\n", None, None),
    "html": ("<!--\n---\nname: a\n---\n-->\nBody.\n", None, None),
    "yaml without a mapping": ("---\njust text\n---\nBody.\n", None, None),
    "a table of contents": ("---\n- a\n- b\n---\nBody.\n", None, None),
}  # fmt: skip

#: What a tool reads as its author meant it, though others do not: Claude Code and OpenCode end a
#: header at any three dashes, and OpenCode takes the first of two documents for the header. OpenCode
#: needs no header: without one, the whole text is the prompt.
READ_WHOLE = {
    (".opencode/agent", "no header"),
    (".opencode/agent", "html"),
    (".claude/agents", "a closing fence with text"),
    (".opencode/agent", "a closing fence with text"),
    (".opencode/agent", "a second document"),
}

FINE = {name: row[1] for name, row in TABLE.items() if row[1] is not None}


@pytest.mark.parametrize("name", TABLE)
def test_an_agent_file(name: str, tmp_path: Path) -> None:
    """The prompt is all text below the header, to the last character, or there is an error."""
    outcome = load(world.AGENT_MD, tmp_path, TABLE[name][0])
    if outcome.config is None:
        assert outcome.errors
        assert name not in FINE or name == "a fence in a block", outcome.errors
        return
    prompt = outcome.config.profile.system_prompt
    assert TABLE[name][0].endswith(prompt)
    if name in FINE:
        assert prompt == FINE[name]


@pytest.mark.parametrize("name", TABLE)
def test_a_profile(name: str, tmp_path: Path) -> None:
    """Profiles have the other grammar: no `name`, and a trimmed prompt."""
    text = (
        TABLE[name][0]
        .replace("name: a\r\n", "")
        .replace("name: a\n", "")
        .replace("name = 'a'\n", "")
    )
    outcome = load(world.PROFILE, tmp_path, text)
    if outcome.config is None:
        assert outcome.errors
        return
    prompt = outcome.config.prompt.text or ""
    assert prompt in text
    assert "description" not in prompt


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("folder", [".claude/agents", ".github/agents", ".opencode/agent"])
def test_other_tools(
    name: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header that does not parse is never dropped in silence, as the tools themselves do."""
    import equipage

    monkeypatch.chdir(tmp_path)
    path = f"{folder}/" + ("a.agent.md" if "github" in folder else "a.md")
    write(tmp_path, {path: TABLE[name][0]})
    report = equipage.check([path], env={})
    world.no_bug(report.diagnostics)
    if name not in ("plain", *FINE, "plus signs", "a byte order mark"):
        assert report.diagnostics or (folder, name) in READ_WHOLE, "silent"


def test_spans_of_a_header_count_everything_before_it(tmp_path: Path) -> None:
    text = f"{BOM}\n\n---\r\ndescription: d\r\nunknwon: 1\r\n---\r\nBody."
    outcome = load(world.PROFILE, tmp_path, text)
    (found,) = [each for each in outcome.diagnostics if each.code == "unknown-field"]
    assert found.span is not None
    assert found.span.text() == "unknwon"
    assert (found.span.line, found.span.column) == (5, 1)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("model: a\nmodel: b", "duplicate-key"),
        ("model: !x a", "unknown-tag"),
        ("metadata: {version: 1.1e9990}", "not-finite"),
        ("metadata: {<<: {a: 1}}", "merge-key"),
    ],
)
def test_a_header_that_had_to_be_mended_is_not_excused(
    line: str, code: str, tmp_path: Path
) -> None:
    """Where one entry is read by the rule of lines, the others are still looked at."""
    skill = world.Sample("skill", ".claude/skills/s/SKILL.md", "")
    outcome = load(skill, tmp_path, f"---\nname: s\ndescription: Use it: now\n{line}\n---\nText.\n")
    assert {"header-not-yaml", code} <= world.codes(outcome), outcome.diagnostics
    loaded = outcome.loaded_or_none()
    assert loaded is None or loaded.digest
