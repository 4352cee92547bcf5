"""The cache of `check`: what it says is what a fresh check says, whatever happened in between."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from equipage.files import keeping, vouching
from equipage.loading.session import Request
from equipage.render import REPORTS
from equipage.render import json as as_json
from equipage.workspace import cache, loads
from equipage.workspace import check as reports
from equipage.workspace.cache import Cache
from equipage.workspace.check import ReportBuilder, check_paths
from equipage.workspace.loads import Candidate
from lab import in_process, repository, write
from workspace.editing import MARGIN, Workspace

FOLDER = keeping.NAME


@pytest.fixture(autouse=True)
def _small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In these tests, one file is enough for a cache."""
    monkeypatch.setattr(reports, "CACHE_WORTH_IT", 1)
    monkeypatch.setattr(cache, "_PIECE", 2)
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)


def checked(*paths: str, cached: bool = True, env: dict[str, str] | None = None) -> str:
    """The report as the command prints it, texts of findings and digests included."""
    return as_json.render(check_paths(paths or (".",), Request(env=env or {}), cached=cached))


def test_whatever_changes_a_check_with_the_cache_says_what_a_fresh_one_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten workspaces, twenty changes of each. `make fuzz` makes ten thousand."""
    monkeypatch.setattr(vouching, "MARGIN", MARGIN)
    recalled = 0
    whole = Cache._recall

    def counted(self: Cache, key: str, *how: Any) -> object:
        nonlocal recalled
        found = whole(self, key, *how)
        recalled += found is not None
        return found

    monkeypatch.setattr(Cache, "_recall", counted)
    for seed in range(10):
        root = tmp_path / str(seed) / "project"
        workspace = Workspace(root, seed)
        monkeypatch.chdir(root)
        for number in range(20):
            what = workspace.change()
            cached, fresh = workspace.reports()
            assert cached == fresh, f"seed {seed}, change {number}: {what}"
    assert recalled > 400  # it was used


AGENTS = {
    f".claude/agents/{name}.md": f"---\nname: {name}\ndescription: d\nmodel: [5]\n---\nText.\n"
    for name in "abcdefgh"
}


def loads_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are checked from now on."""
    names: list[str] = []
    real = loads.load_candidate

    def load(candidate: Candidate, *rest: Any, **more: Any) -> Any:
        names.append(os.path.basename(candidate.path))
        return real(candidate, *rest, **more)

    monkeypatch.setattr(loads, "load_candidate", load)
    return names


def kept() -> bytes:
    """Everything in the folder of the cache, also as it is before it is packed."""
    found = {path.name: path.read_bytes() for path in sorted(Path(FOLDER).iterdir())}
    entries = [data for name, data in found.items() if len(name) == 32]
    books = [msgspec.msgpack.decode(data[keeping._MAC_BYTES :]) for data in entries]
    pieces = [msgspec.msgpack.decode(each) for book in books for each in book[3].values()]
    rows = [zlib.decompress(piece[1]) for piece in pieces]
    assert rows
    return b"".join([*found.values(), *rows])


@pytest.mark.parametrize("jobs", [1, 2])
def test_only_what_changed_is_checked_again(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    first = check_paths(["."], Request(env={}), cached=True, jobs=jobs)
    names = loads_of(monkeypatch)
    again = check_paths(["."], Request(env={}), cached=True)
    assert names == []
    assert as_json.render(again) == as_json.render(first)
    found = [each for each in again.diagnostics if each.code == "wrong-type"]
    assert len(found) == 8
    assert found[0].span is not None
    assert found[0].span.source.line(4) == "model: [5]"
    write(".", {".claude/agents/c.md": AGENTS[".claude/agents/c.md"].replace("[5]", "opus")})
    left = check_paths(["."], Request(env={}), cached=True).diagnostics
    assert len([each for each in left if each.code == "wrong-type"]) == 7
    assert "c.md" in names
    assert len(names) < 8


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no list of open descriptors")
@pytest.mark.parametrize("how", ["made", "recalled", "amended", "ended by an interrupt"])
def test_no_check_leaves_a_descriptor_open(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that checks again and again would have no more of them one day."""
    write(".", AGENTS)
    if how in ("recalled", "amended"):
        checked()
    if how == "amended":
        write(".", {".claude/agents/c.md": AGENTS[".claude/agents/c.md"].replace("[5]", "[6]")})
    if how == "ended by an interrupt":
        monkeypatch.setattr(Cache, "save", interrupted)
    with suppress(KeyboardInterrupt):
        checked()  # whatever is opened once for the whole process is open now
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        if how == "made":
            shutil.rmtree(FOLDER)
        if how == "amended":
            path = Path(".claude/agents/c.md")
            path.write_text(path.read_text() + "More.\n")
        with suppress(KeyboardInterrupt):
            checked()
    assert os.listdir("/proc/self/fd") == before


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, no report may be made from all files."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("made from all files")

    monkeypatch.setattr(ReportBuilder, "build", refuse)


def test_a_change_in_one_file_amends_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    for _ in range(2):  # the first one makes the folder, which is news for the second
        check_paths(["."], Request(env={}), cached=True)
    for number, (old, new) in enumerate(
        [("[5]", "opus"), ("[5]", "[6]"), ("model: [5]", "model: [5]\ncolour: [7]")]
    ):
        name = f".claude/agents/{'cde'[number]}.md"
        write(".", {name: AGENTS[name].replace(old, new)})
        with monkeypatch.context() as patched:
            not_built(patched)
            amended = check_paths(["."], Request(env={}), cached=True)
            again = check_paths(["."], Request(env={}), cached=True)
        fresh = check_paths(["."], Request(env={}))
        assert as_json.render(amended) == as_json.render(fresh) == as_json.render(again)
        assert amended.hidden == fresh.hidden
    write(".", {"equipage.toml": "[check]\n"})
    with monkeypatch.context() as patched:
        not_built(patched)
        with pytest.raises(AssertionError, match="from all files"):
            check_paths(["."], Request(env={}), cached=True)


@pytest.mark.parametrize("change", ["name: a", "name: new", "layered", "copy"])
def test_a_change_that_concerns_other_files_is_not_amended(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = ".claude/agents/c.md"
    write(".", AGENTS)
    if change == "copy":
        write(".", {".github/agents/c.md": AGENTS[name]})
    for _ in range(2):
        check_paths(["."], Request(env={}), cached=True)
    text = AGENTS[name]
    if change == "copy":
        write(".", {name: text + "Another sentence.\n"})
    elif change == "layered":
        write(".", {name: text, ".claude/agents/new.md": text})
    else:
        write(".", {name: text.replace("name: c", change)})
    with monkeypatch.context() as patched:
        not_built(patched)
        with pytest.raises(AssertionError, match="from all files"):
            check_paths(["."], Request(env={}), cached=True)
    cached, fresh = (check_paths(["."], Request(env={}), cached=each) for each in (True, False))
    assert as_json.render(cached) == as_json.render(fresh)


def test_a_file_that_was_looked_for_in_vain_counts_when_it_appears(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(".", {"a.yaml": "server: {name: x, version: '1'}\ntools:\n  - $include: t.yaml\n"})
    write(".", {"library/other.yaml": ""})
    assert '"errors": 1' in checked()
    tool = "tool: {name: t, description: d, inputSchema: {type: object}}\nresponse: {content: [{type: text, text: hi}]}\n"
    write(".", {"library/t.yaml": tool})
    assert '"errors": 0' in checked()
    Path("library/t.yaml").unlink()
    assert '"errors": 1' in checked()


def test_values_of_variables_count_and_are_not_written_down() -> None:
    write(".", {"a.yaml": "server: {name: x, version: '${SECRET}'}\ntools: ${SECRET}\n"})
    for value in ("swordfish", "open-sesame", "swordfish"):
        assert checked(env={"SECRET": value}) == checked(env={"SECRET": value}, cached=False)
        assert value.encode() not in kept()
    assert checked(env={}) == checked(env={}, cached=False)


def test_a_value_that_became_a_path_is_not_written_down() -> None:
    write(
        ".", {"a.yaml": "server: {name: x, version: '1'}\ntools:\n  - $include: ${SECRET}.yaml\n"}
    )
    for _ in range(2):
        checked(env={"SECRET": "swordfish"})
        assert b"swordfish" not in kept()


def test_no_text_of_a_file_is_written_down() -> None:
    text = "---\nname: a\ndescription: d\nmodel: [5]\n---\nThe weather in Lisbon.\n"
    key = "ghp_" + "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"
    servers = {"mcpServers": {"a": {"command": "npx", "env": {"GITHUB_TOKEN": key}}}}
    write(".", {".claude/agents/a.md": text, ".mcp.json": servers})
    assert "secret-in-file" in checked()
    assert b"Lisbon" not in kept()
    assert b"ghp_" not in kept()


def test_the_folder_says_what_it_is() -> None:
    write(".", AGENTS)
    checked()
    assert Path(FOLDER, ".gitignore").read_text() == "*\n"
    assert (
        Path(FOLDER, "CACHEDIR.TAG")
        .read_text()
        .startswith("Signature: 8a477f597d28d172789f06886806bc55")
    )
    assert {path.stat().st_mode & 0o077 for path in Path(FOLDER).iterdir()} == {0}
    # A walk leaves it alone, also where nothing is ignored.
    write(FOLDER, {"x/.claude/agents/x.md": "---\nname: 5\n---\n"})
    assert not [
        each
        for each in check_paths(["."], Request(env={}, isolated=True)).files
        if "x.md" in each.path
    ]
    shutil.rmtree(FOLDER)
    assert checked() == checked(cached=False)


def test_it_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    monkeypatch.setattr(keeping, "MOST_FILES", 3)
    for number in range(6):
        check_paths(["."], Request(env={}, roots=(f"/{number}",)), cached=True)
    files = [path for path in Path(FOLDER).iterdir() if len(path.name) == 32]
    assert len(files) == 3
    monkeypatch.setattr(keeping, "MOST_BYTES", 100)
    for path in files:
        path.unlink()
    # What would be too large is given up on the way, and the report is the same.
    assert checked() == checked(cached=False)
    assert [path for path in Path(FOLDER).iterdir() if len(path.name) == 32] == []


def test_what_a_killed_run_left_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    checked()
    old, new = (Path(FOLDER, f"{digit * 32}.tmp") for digit in "ab")
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    write(".", {"a.yaml": "server: {name: x}\n"})
    checked()
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    ("arguments", "env", "files"),
    [
        (["--no-cache"], {}, {}),
        ([], {"EQUIPAGE_NO_CACHE": "1"}, {}),
        ([], {}, {"equipage.toml": "cache = false\n"}),
        (["--max-files", "1000"], {}, {}),
        (["--fix"], {}, {}),
        (["--diff"], {}, {}),
    ],
)
def test_it_can_be_turned_off(
    arguments: list[str],
    env: dict[str, str],
    files: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(".", {**AGENTS, **files})
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    in_process(["check", *arguments])
    assert not Path(FOLDER).exists()


def test_few_files_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    monkeypatch.setattr(reports, "CACHE_WORTH_IT", 9)
    checked()
    assert not Path(FOLDER).exists()
    monkeypatch.setattr(reports, "CACHE_WORTH_IT", 8)
    checked()
    assert Path(FOLDER).is_dir()


def test_a_folder_that_is_no_project_is_left_as_it_is(tmp_path: Path) -> None:
    write(".", AGENTS)
    Path(".git").rmdir()
    checked()
    assert not Path(FOLDER).exists()


def without_findings() -> dict[str, str]:
    return {path: text.replace("[5]", "opus") for path, text in AGENTS.items()}


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(each, id="".join(each) or "plain")
        for each in ((), ("--quiet",), ("--statistics",), ("--strict", "--verbose"))
    ],
)
@pytest.mark.parametrize("files", [AGENTS, without_findings()], ids=["findings", "none"])
@pytest.mark.parametrize("how", REPORTS)
def test_every_format_shows_the_same_bytes(
    how: str, files: dict[str, str], options: tuple[str, ...]
) -> None:
    """From the whole report that is kept, and after an edit from its pieces, as without a cache."""
    write(".", {**files, "equipage.toml": "wrong = 1\n"})
    command = ["check", "-f", how, *options]
    edit = f"{Path('.claude/agents/b.md').read_text()}More.\n"
    for change in ({}, {}, {".claude/agents/b.md": edit}, {".claude/agents/b.md": "Text.\n"}):
        write(".", change)
        assert in_process(command) == in_process([*command, "--no-cache"]), (how, options)


def test_the_command_prints_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixes, baselines and standard input are as without a cache."""
    misspelt = "---\nname: z\ndescription: d\ntool: Read\nmodle: opus\n---\nText.\n"
    write(".", {**AGENTS, ".claude/agents/z.md": misspelt})
    assert in_process(["check", "--statistics"]) == in_process(
        ["check", "--statistics", "--no-cache"]
    )
    assert in_process(["check", "--diff"]) == in_process(["check", "--diff", "--no-cache"])
    in_process(["check", "--write-baseline"])
    assert in_process(["check"]) == in_process(["check", "--no-cache"])
    in_process(["check", "--fix", "--unsafe-fixes"])
    assert in_process(["check", "--no-baseline"]) == in_process(
        ["check", "--no-baseline", "--no-cache"]
    )


def test_files_of_kinds_of_other_packages_are_always_checked(
    playbook_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        ".", {"equipage.toml": '[kinds]\n"*.play.yaml" = "playbook"\n', "a.play.yaml": "name: 5\n"}
    )
    first = checked()
    names = loads_of(monkeypatch)
    assert checked() == first
    assert "a.play.yaml" in names


def test_a_check_that_failed_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug, or a process that had no memory left, says nothing about the file."""
    write(".", AGENTS)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as during:
        during.setattr(loads, "recognise", fail)
        assert "internal-error" in checked()
    assert "internal-error" not in checked()


def test_another_version_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".", AGENTS)
    checked()
    names = loads_of(monkeypatch)
    monkeypatch.setattr(cache, "installed", lambda: "another one")
    checked()
    assert len(names) == 8
