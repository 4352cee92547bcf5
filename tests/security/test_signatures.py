"""Signatures of files and folders: whatever they miss, a check with the cache must not.

In these tests a change counts as old after some milliseconds, so that signatures are used.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from equipage.files import replaying, sandbox, tracing, vouching
from equipage.files.tracing import Signature
from equipage.loading.session import Request
from equipage.render import json as as_json
from equipage.workspace import cache, check
from equipage.workspace.check import check_paths
from lab import repository, write
from workspace.editing import MARGIN, OLD_ENOUGH

AGENT = "---\nname: {}\ndescription: d\nmodel: [5]\n---\nText.\n"
FILES = {f".claude/agents/{name}.md": AGENT.format(name) for name in "abcdef"} | {
    ".claude/skills/one/SKILL.md": "---\nname: one\ndescription: d\n---\nSee [it](more.md).\n",
    "server.yaml": "server: {name: x, version: '1'}\ntools:\n  - $include: t.yaml\n",
    "library/other.yaml": "",
}
A = Path(".claude/agents/a.md")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check, "CACHE_WORTH_IT", 1)
    monkeypatch.setattr(cache, "_PIECE", 2)
    monkeypatch.setattr(vouching, "MARGIN", MARGIN)
    root = repository(tmp_path / "project", FILES)
    monkeypatch.chdir(root)
    return root


def report(*, cached: bool = True) -> str:
    found = check_paths(["."], Request(env={}), cached=cached, texts=False)
    return as_json.render(found)


def pause() -> None:
    time.sleep(OLD_ENOUGH / 1e9)


def settle() -> str:
    """Check until everything is old enough for its signature to count; what the checks say."""
    for _ in range(3):
        pause()
        found = report()
    return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that are read because a signature does not vouch for them."""
    names: list[str] = []
    real = replaying.Replay._content_now

    def read(self: replaying.Replay, path: str, limit: int) -> object:
        names.append(os.path.basename(path))
        return real(self, path, limit)

    monkeypatch.setattr(replaying.Replay, "_content_now", read)
    return names


def test_what_did_not_change_is_not_read_again(reads: list[str]) -> None:
    found = settle()
    reads.clear()
    assert report() == found == report(cached=False)
    assert reads == []


def test_only_what_changed_is_read_again(reads: list[str]) -> None:
    settle()
    A.write_text(AGENT.format("other"))
    pause()
    reads.clear()
    assert report() == report(cached=False)
    assert set(reads) - {"pyproject.toml"} == {"a.md"}  # one is looked for, in vain


# Ways to change something that a careless look would miss.


def _with_times(path: Path, change: Callable[[], object]) -> None:
    """Change something, and give it back the times that it had."""
    times = path.stat()
    change()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def same_size() -> None:
    _with_times(A, lambda: A.write_text(A.read_text().replace("[5]", "inh")))


def replaced() -> None:
    new = Path("node_modules/new")
    new.write_text(A.read_text().replace("[5]", "inh"))
    shutil.copystat(A, new)
    new.rename(A)


def through_a_hard_link() -> None:
    second = Path("node_modules/second")
    _with_times(second, lambda: second.write_text(A.read_text().replace("[5]", "inh")))


def behind_a_link() -> None:
    target = Path("node_modules/target.md")
    _with_times(target, lambda: target.write_text(target.read_text().replace("[5]", "inh")))


def retargeted() -> None:
    link = Path(".claude/agents/link.md")
    folder = link.parent.stat()
    link.unlink()
    link.symlink_to("../../node_modules/second")
    os.utime(link.parent, ns=(folder.st_atime_ns, folder.st_mtime_ns))


def target_appears() -> None:
    """The folder with the link stays as it was."""
    write("node_modules/away/more", {"new.md": AGENT.format("new")})


def leads_somewhere() -> None:
    """A link that led nowhere leads to a file."""
    write("node_modules/away", {"broken.md": AGENT.format("broken")})


def small_enough() -> None:
    """A file that was too large to be read is not; its folder stays as it was."""
    Path("pyproject.toml").write_text('[tool.equipage]\nignore = ["wrong-type"]\n')


def another_folder() -> None:
    shutil.copytree(".claude/agents", "node_modules/copy", symlinks=True)
    copy = Path("node_modules/copy/a.md")
    _with_times(copy, lambda: copy.write_text(copy.read_text().replace("[5]", "inh")))
    Path(".claude/agents").rename("node_modules/old")
    Path("node_modules/copy").rename(".claude/agents")


def another_way() -> None:
    """The folders are the same ones, but the way to them leads out of the project."""
    Path(".claude").rename("../elsewhere")
    Path(".claude").symlink_to("../elsewhere")


def found_at_last() -> None:
    tool = "tool: {name: t, description: d, inputSchema: {type: object}}\n"
    write("library", {"t.yaml": tool + "response: {content: [{type: text, text: hi}]}\n"})


def made_anew() -> None:
    """As a checkout of another branch does it: unlinked and written, with the time of then."""
    times = A.stat()
    A.unlink()
    A.write_text(AGENT.format("a").replace("[5]", "inh"))
    os.utime(A, ns=(times.st_atime_ns, times.st_mtime_ns))


def ignored() -> None:
    write(".", {".gitignore": "/.claude/agents/b.md\n"})


def by_settings() -> None:
    write(".", {"equipage.toml": 'ignore = ["wrong-type"]\n'})


WAYS = (
    same_size, replaced, through_a_hard_link, behind_a_link, retargeted, target_appears,
    leads_somewhere, small_enough, another_folder, another_way, found_at_last, made_anew, ignored, by_settings,
)  # fmt: skip


@pytest.mark.parametrize("at_once", [False, True], ids=["later", "at once"])
@pytest.mark.parametrize("change", WAYS)
def test_no_change_is_missed(change: Callable[[], None], at_once: bool) -> None:
    """Also one in the tick of the clock in which the cache was written."""
    write("node_modules", {"target.md": AGENT.format("t"), "away/x": ""})
    os.link(A, "node_modules/second")
    Path(".claude/agents/link.md").symlink_to("../../node_modules/target.md")
    for name in ("more", "broken.md"):
        Path(".claude/agents", name).symlink_to(f"../../node_modules/away/{name}")
    with open("pyproject.toml", "wb") as file:
        file.truncate(2 * sandbox.MAX_BYTES)
    before = settle()
    if at_once:
        A.touch()
        report()
    else:
        pause()
    change()
    fresh = report(cached=False)
    assert fresh != before
    assert report() == fresh
    pause()
    assert report() == fresh


# Where a signature is not enough. A look that is blind to times and inodes misses a change of the
# same size: if signatures counted then, the check would be wrong.


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    def signature(status: os.stat_result) -> Signature:
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        return (0, 0, status.st_mode, size, 0, 0)

    for module in (tracing, vouching, replaying):
        monkeypatch.setattr(module, "signature", signature)


def is_wrong_after(change: Callable[[], object] = lambda: None) -> bool:
    """Whether a check misses an edit, if something else changed as well."""
    settle()
    same_size()
    change()
    return report() != report(cached=False)


@pytest.mark.usefixtures("blind")
def test_a_blind_look_is_wrong() -> None:
    """This shows that the tests below would fail."""
    assert is_wrong_after()


def _era(boot: str = "a", distance: int = 0) -> Callable[[], vouching.Era]:
    return lambda: vouching.Era(boot, distance)


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (_era(), _era("b")),  # the machine was started anew
        (_era(), _era("a", -60_000)),  # the clock was set back
        (_era(), _era("a", 60_000)),
        (_era(), lambda: None),  # the system does not say
        (lambda: None, lambda: None),
    ],
)
def test_after_a_start_and_with_another_clock_contents_are_read(
    before: Callable[[], vouching.Era | None],
    after: Callable[[], vouching.Era | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def set_era(era: Callable[[], vouching.Era | None]) -> None:
        for module in (vouching, cache):
            monkeypatch.setattr(module, "this_era", era)

    set_era(before)
    assert not is_wrong_after(lambda: set_era(after))


@pytest.mark.usefixtures("blind")
def test_a_clock_that_is_set_while_a_check_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    eras = [vouching.Era("a", distance) for distance in range(0, 10_000_000, 60_000)]
    monkeypatch.setattr(cache, "this_era", lambda: eras.pop(0))
    assert not is_wrong_after()


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("type_", ["nfs4", "vfat", "fuse.sshfs", "9p", "cifs", "ntfs3", ""])
def test_file_systems_without_exact_times(type_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vouching, "_mounts", lambda: {"/": type_} if type_ else {})
    assert not is_wrong_after()


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("place", ["", "/.claude", "/.claude/agents/a.md"])
def test_such_a_file_system_in_a_project(
    place: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the nearest place that something is mounted at, around a file or at it."""
    monkeypatch.setattr(vouching, "_mounts", lambda: {"/": "ext4", f"{project}{place}": "nfs"})
    assert not is_wrong_after()


def test_the_table_of_mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks are written as numbers, and of two at one place the later one counts."""
    table = (
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "23 22 0:5 / /with\\040blank rw master:2 - nfs4 server:/x rw\n"
        "24 22 0:6 / /twice rw - ext4 /dev/sdb rw\n"
        "25 24 0:7 / /twice rw - tmpfs tmpfs rw\n"
    )
    monkeypatch.setattr(vouching, "_said_by_kernel", lambda path: table)
    assert vouching._mounts() == {"/": "ext4", "/with blank": "nfs4", "/twice": "tmpfs"}


@pytest.mark.usefixtures("blind")
def test_other_rights_are_another_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of other groups may not be able to read what was read before."""
    other = (0, 0, [12345], ["CapEff: 0"])
    change = lambda: monkeypatch.setattr(cache, "process_identity", lambda: other)  # noqa: E731
    assert not is_wrong_after(change)


def test_what_changed_a_moment_ago_is_read(
    reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the margin that is used: two seconds."""
    monkeypatch.setattr(vouching, "MARGIN", 2_000_000_000)
    settle()
    reads.clear()
    report()
    assert set(reads) >= {"a.md", "b.md", "SKILL.md"}


def test_the_margin_is_larger_than_what_the_clock_may_wander() -> None:
    assert vouching._DRIFT * 1_000_000 < 2_000_000_000


def test_a_file_from_the_future_is_read(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock was ahead when it was written, or is behind now."""
    real = cache._since
    monkeypatch.setattr(cache, "_since", lambda *when: (real(*when) or 0) - 10**12)
    settle()
    reads.clear()
    report()
    assert "a.md" in reads


def test_a_project_that_is_reached_through_a_link(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    monkeypatch.chdir(project.parent)

    def found(*, cached: bool) -> str:
        request = Request(env={})
        return as_json.render(check_paths(["link"], request, cached=cached, texts=False))

    for _ in range(3):
        pause()
        before = found(cached=True)
    other = repository(project.parent / "other", {**FILES, ".claude/agents/a.md": "Text."})
    link.unlink()
    link.symlink_to(other)
    assert found(cached=True) == found(cached=False) != before


def test_a_folder_whose_name_is_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    repository(Path(os.fsdecode(folder)), FILES)
    monkeypatch.chdir(os.fsdecode(folder))
    assert report() == report() == report(cached=False)
