"""The budget: what each client reads of a workspace, and how much of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from equipage.cli import main
from equipage.effect.budget import Measure, budget_of
from equipage.files import OpenedFile
from equipage.files.disk import Disk
from equipage.loading.session import Request
from equipage.workspace import Workspace
from lab import Link, repository, write


def measured(folder: Path, files: dict[str, Any]) -> dict[tuple[str, str], Measure]:
    """The measures by client and what it is; those of folders below the project by folder, too."""
    repository(folder, files)
    workspace = Workspace([str(folder)], Request(env={}, shared=True))
    found = budget_of(workspace.loads())
    return {
        (each.client, each.what)
        if each.folder in (".", str(folder))
        else (each.client, f"{each.what} in {Path(each.folder).name}"): each
        for each in found
    }


def skill(description: str, more: str = "", body: str = "Do it.\n") -> str:
    return f"---\nname: x\ndescription: {description}\n{more}---\n{body}"


@pytest.mark.requirement("SE-04")
def test_a_listing_counts_each_line_as_claude_code_writes_it(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            ".claude/skills/a/SKILL.md": skill("writes <b>", "when_to_use: often\n"),
            ".claude/commands/go.md": "---\ndescription: goes\n---\nGo.\n",
            ".claude/commands/plain.md": "First line\n\nSecond line\n",
        },
    )
    listing = found["Claude Code", "skill listing"]
    lines = ("- a: writes &lt;b&gt; - often\n", "- go: goes\n", "- plain: First line\n")
    # The name of a skill is that of its folder.
    assert {part.name: part.size for part in listing.parts} == {
        "a": len(lines[0]),
        "go": len(lines[1]),
        "plain": len(lines[2]),
    }
    assert listing.used == sum(map(len, lines))
    assert listing.limit is not None
    assert (listing.limit.size, listing.limit.basis) == (8_000, "measured")
    # The others know no commands, nothing of `when_to_use`, and escape nothing.
    assert found["OpenCode", "skill listing"].used == len("- x: writes <b>\n")


def test_codex_lists_the_file_of_each_skill(tmp_path: Path) -> None:
    """As `codex debug prompt-input` shows it."""
    found = measured(tmp_path, {".agents/skills/s1/SKILL.md": skill("Writes <notes>.")})
    line = "- x: Writes <notes>. (file: r1/s1/SKILL.md)\n"
    assert found["Codex", "skill listing"].used == len(line)


@pytest.mark.parametrize(
    "header", ["disable-model-invocation: true\n", "paths: '*.py'\n"], ids=["switch", "paths"]
)
def test_what_the_model_does_not_hear_of_costs_nothing(header: str, tmp_path: Path) -> None:
    found = measured(tmp_path, {".claude/skills/x/SKILL.md": skill("writes", header)})
    assert ("Claude Code", "skill listing") not in found


def test_each_client_reads_its_own_folders(tmp_path: Path) -> None:
    places = (".claude", ".agents", ".codex", ".gemini", ".github", ".opencode", ".cursor")
    files = {
        # OpenCode insists on the name of the folder.
        f"{place}/skills/s{place[1:]}/SKILL.md": skill("d").replace(
            "name: x", f"name: s{place[1:]}"
        )
        for place in places
    }
    found = measured(tmp_path, files)
    read = {
        client: sorted(
            part.file.rpartition("/skills/s")[2].partition("/")[0] for part in each.parts
        )
        for (client, what), each in found.items()
        if what == "skill listing"
    }
    assert read == {
        "Claude Code": ["claude"],
        "Codex": ["agents", "codex"],
        "Gemini CLI": ["agents", "gemini"],
        "GitHub Copilot": ["agents", "claude", "github"],
        "OpenCode": ["agents", "claude", "opencode"],
        "Cursor": ["agents", "claude", "cursor"],
    }


def test_skills_of_a_plugin_carry_its_name(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            "tools/.claude-plugin/plugin.json": {"name": "tools", "version": "1.0.0"},
            "tools/skills/a/SKILL.md": skill("writes"),
        },
    )
    listing = found["Claude Code", "skill listing in tools"]
    assert [part.name for part in listing.parts] == ["tools:a"]


def test_skills_in_deeper_folders_are_not_read_by_claude_code(tmp_path: Path) -> None:
    found = measured(tmp_path, {".claude/skills/a/b/SKILL.md": skill("writes")})
    assert ("Claude Code", "skill listing") not in found
    assert found["OpenCode", "skill listing"].parts[0].name == "x"


def test_settings_move_the_limits(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            ".claude/skills/a/SKILL.md": skill("d" * 1_000),
            ".claude/settings.json": {
                "skillListingBudgetFraction": 0.02,
                "skillListingMaxDescChars": 100,
            },
            "AGENTS.md": "x" * 200,
            ".codex/config.toml": "project_doc_max_bytes = 100\n",
        },
    )
    listing, longest = (
        found["Claude Code", "skill listing"],
        found["Claude Code", "longest description"],
    )
    assert listing.limit is not None
    assert longest.limit is not None
    assert (listing.limit.size, listing.used) == (16_000, len("- a: \n") + 100)
    assert (longest.limit.size, longest.used, longest.is_lost) == (100, 1_000, True)
    # Other clients that read the skill do not read these settings.
    assert not found["GitHub Copilot", "longest description"].is_over
    assert longest.limit.source.endswith(".claude/settings.json: skillListingMaxDescChars")
    instructions = found["Codex", "instructions"]
    assert instructions.limit is not None
    assert (instructions.used, instructions.limit.size, instructions.is_lost) == (200, 100, True)


@pytest.mark.parametrize("fraction", ["true", "-1", '"much"', "null"])
def test_nonsense_in_settings_moves_nothing(fraction: str, tmp_path: Path) -> None:
    text = f'{{"skillListingBudgetFraction": {fraction}}}'
    files = {".claude/skills/a/SKILL.md": skill("writes"), ".claude/settings.json": text}
    listing = measured(tmp_path, files)["Claude Code", "skill listing"]
    assert listing.limit is not None
    assert listing.limit.size == 8_000


def test_instructions_are_those_that_each_client_reads(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            "CLAUDE.md": "<!-- not for the model -->\nSee @docs/style.md\n",
            "docs/style.md": "Write well.\n",
            "CLAUDE.local.md": "Mine.\n",
            "AGENTS.md": "For all agents.\n",
            "GEMINI.md": "Gemini.\n",
            ".github/copilot-instructions.md": "c" * 4_001,
            ".claude/rules/always.md": "Always.\n",
            ".claude/rules/some.md": "---\npaths: '*.py'\n---\nSometimes.\n",
            ".cursor/rules/one.mdc": "---\nalwaysApply: true\n---\nOne.\n",
            ".cursor/rules/two.mdc": "---\nalwaysApply: false\n---\nTwo.\n",
        },
    )
    read = {
        client: sorted(part.name for part in each.parts)
        for (client, what), each in found.items()
        if what == "instructions"
    }
    assert read == {
        "Claude Code": ["CLAUDE.local.md", "CLAUDE.md", "always.md", "style.md"],
        "Codex": ["AGENTS.md"],
        "GitHub Copilot": [
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            "always.md",
            "copilot-instructions.md",
        ],
        "OpenCode": ["AGENTS.md"],
        "Gemini CLI": ["GEMINI.md"],
        "Cursor": ["AGENTS.md", "one.mdc"],
    }
    sizes = {part.name: part.size for part in found["Claude Code", "instructions"].parts}
    assert sizes["CLAUDE.md"] == len("See @docs/style.md\n")
    assert found["GitHub Copilot", "instructions in reviews"].is_lost


def test_instructions_of_folders_above_count(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            "AGENTS.md": "root\n",
            "deep/AGENTS.md": "hidden by the other\n",
            "deep/AGENTS.override.md": "é\n",
        },
    )
    below = found["Codex", "instructions in deep"]
    assert {part.name: part.size for part in below.parts} == {
        "AGENTS.md": 5,
        "AGENTS.override.md": 3,
    }
    assert below.unit == "bytes"
    # Claude Code knows no override, and takes AGENTS.md where there is no CLAUDE.md.
    assert found["Claude Code", "instructions in deep"].used == len("root\nhidden by the other\n")


def test_a_link_to_other_instructions_counts_and_one_to_the_outside_does_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "secret.md").write_text("s" * 100)
    found = measured(
        tmp_path / "project",
        {"AGENTS.md": "root\n", "CLAUDE.md": Link("AGENTS.md"), "GEMINI.md": Link("../secret.md")},
    )
    assert found["Claude Code", "instructions"].used == 5
    assert ("Gemini CLI", "instructions") not in found


def test_gemini_reads_the_names_in_its_settings(tmp_path: Path) -> None:
    files = {
        "AGENTS.md": "root\n",
        ".gemini/settings.json": {"context": {"fileName": ["AGENTS.md"]}},
    }
    found = measured(tmp_path, files)
    assert [part.name for part in found["Gemini CLI", "instructions"].parts] == ["AGENTS.md"]


def test_imports_in_circles_end(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "@a.md\n", "a.md": "@b.md @CLAUDE.md\n", "b.md": "@a.md\n"}
    found = measured(tmp_path, files)["Claude Code", "instructions"]
    assert sorted(part.name for part in found.parts) == ["CLAUDE.md", "a.md", "b.md"]


def test_a_long_text_is_over_a_recommendation_or_a_limit(tmp_path: Path) -> None:
    found = measured(
        tmp_path,
        {
            "skills/a/SKILL.md": skill("writes", body="line\n" * 600),
            ".github/agents/a.agent.md": "---\ndescription: x\n---\n" + "b" * 30_001,
        },
    )
    skills = found["Agent Skills", "longest skill"]
    assert (skills.is_over, skills.is_lost, skills.tokens) == (True, False, None)
    assert found["GitHub Copilot", "longest agent"].is_lost


def test_the_command_says_what_is_over_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    files = {f".claude/skills/s{n}/SKILL.md": skill("d" * 900) for n in range(10)}
    repository(tmp_path, {**files, ".claude/agents/bad.md": "---\nname: [\n---\n"})
    assert main(["budget"]) == 1
    said = capsys.readouterr()
    assert "9,070 characters  8,000  113%   descriptions at the end of the list" in said.out
    assert "limit: 8,000 characters (measured with Claude Code 2.1.325)" in said.out
    assert "in 5 more" in said.out
    assert "1 file with errors is not counted" in said.err
    assert main(["budget", "--over", "--client", "CLAUDE", "--json"]) == 1
    (measure,) = json.loads(capsys.readouterr().out)["measures"]
    assert (measure["used"], measure["tokens"], measure["over"]) == (9_070, 2_268, True)
    assert main(["budget", "--over", "--client", "cursor", "--parts"]) == 0
    assert "nothing here is over a limit" in capsys.readouterr().err
    assert main(["budget", "--client", "emacs"]) == 2
    assert "no client `emacs` reads anything here: Agent Skills, " in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["budget", "empty"]) == 0
    assert "no configuration found" in capsys.readouterr().err


def test_a_description_may_be_a_number(tmp_path: Path) -> None:
    found = measured(tmp_path, {".defect/skills/x/SKILL.md": skill("5")})
    assert ("Agent Skills", "longest description in .defect") in found


def test_a_file_that_becomes_a_link_out_of_the_project_is_not_counted(tmp_path: Path) -> None:
    class Swapping(Disk):
        def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
            path = Path(base, reference)
            path.unlink()
            path.symlink_to(tmp_path / "outside.md")
            return super().open_inside(base, reference, roots)

    folder = tmp_path / "project"
    write(tmp_path, {"outside.md": skill("swordfish")})
    repository(folder, {".claude/skills/a/SKILL.md": skill("writes")})
    workspace = Workspace([str(folder)], Request(env={}, system=Swapping(), shared=True))
    loads = workspace.loads()
    assert [each.code for load in loads for each in load.diagnostics] == ["link-outside"]
    assert budget_of(loads) == ()
