"""Finding files: large trees, long lists of what git ignores, megabytes that are not ours.

Ten times the work may take a little more than ten times the time; what is not ours costs little
more than reading it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from harness import Row, fresh_time

import equipage

_AGENT = "---\nname: {name}\ndescription: Does one thing well\n---\nDo it.\n"
_ENDS = (".py", ".ts", ".tsx", ".css", ".png", ".json", ".md", ".yaml", ".rs", ".snap")
_IN_A_FOLDER = 20


def rows(folder: Path, *, files: int = 100_000, lines: int = 20_000) -> list[Row]:
    """The comparisons, over trees written to `folder`."""
    few, many = tree(folder / "few", files // 10), tree(folder / "many", files)
    short, long = ignoring(folder / "short", lines // 10), ignoring(folder / "long", lines)
    slips, more = with_slips(folder / "slips", 1000), with_slips(folder / "more", 10_000)
    few_slips = with_slips(folder / "few_slips", 10)
    others = not_ours(folder / "others", megabytes=64 if files >= 100_000 else 16)
    return [
        _growth(
            f"`check` of {files:,} files, a hundredth of them ours", f"{files // 10:,}", few, many
        ),
        _growth(f"`check` of 300 files, `.gitignore` of {lines:,} lines", "2,000", short, long),
        Row(
            "`check` of a file with 10,000 findings",
            "the same with 1,000",
            11,
            "at most",
            _first_check(more, of=few_slips),
            _first_check(slips, of=few_slips),
            counts=True,
        ),
        Row(
            "`check` of YAML and JSON that is not ours",
            "reading it and searching it for one word",
            3,
            "at most",
            _check(others),
            lambda: [b"agents" in each.read_bytes() for each in others.glob("*.*[ln]")],
        ),
    ]


def _growth(work: str, against: str, few: Path, many: Path) -> Row:
    return Row(work, f"the same with {against}", 11, "at most", _check(many), _check(few))


def _check(folder: Path) -> Callable[[], object]:
    return lambda: equipage.check([folder], env={})


def _first_check(folder: Path, *, of: Path) -> Callable[[], float]:
    """What the first check of a folder takes, after a small one: names that were misspelt once are
    remembered for the rest of a process."""
    check = "equipage.check([{!r}], env={{}})\n"
    code = f"import equipage\n{check.format(str(of))}# ---\n{check.format(str(folder))}"
    return lambda: fresh_time(code)


def tree(folder: Path, files: int) -> Path:
    """A repository of so many files, `_IN_A_FOLDER` in each folder; every hundredth is an agent."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".gitignore").write_text("*.log\nbuild/\n/dist\n")
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    here = folder
    for number in range(files):
        place, rest = divmod(number, _IN_A_FOLDER)
        if rest == 0:
            here = folder / "src" / f"p{place // 400}" / f"q{place // 20 % 20}" / f"r{place % 20}"
            here.mkdir(parents=True)
        if number % 100 == 0:
            (agents / f"a{number}.md").write_text(_AGENT.format(name=f"a{number}"))
        else:
            name = f"f{number}{_ENDS[number % len(_ENDS)]}"
            (here / name).write_text(f'{{"number": {number}}}\n')
    return folder


def ignoring(folder: Path, lines: int) -> Path:
    """A repository of 300 files with many patterns of all sorts, few of which match."""
    tree(folder, 300)
    sorts = (
        "name{}",
        "/at/a/place{}/",
        "*.end{}",
        "begin{}*",
        "a/*/b{}",
        "**/deep{}/*.x",
        "[ab]{}",
    )
    text = "\n".join(sorts[number % len(sorts)].format(number) for number in range(lines))
    (folder / ".gitignore").write_text(text)
    return folder


def with_slips(folder: Path, count: int) -> Path:
    """A repository with one server whose keys are misspelt, no two of them alike."""
    (folder / ".git").mkdir(parents=True)
    tool = (
        "- tool: {{name: t{0}, description: d, inputSchema: {{type: object}}, descripton{0}: x}}\n"
    )
    tools = "".join(tool.format(number) for number in range(count))
    (folder / "server.yaml").write_text(f"server: {{name: x}}\ntools:\n{tools}")
    return folder


def not_ours(folder: Path, *, megabytes: int) -> Path:
    """A repository of recorded answers in YAML and catalogues of words in JSON, half and half."""
    chance = random.Random(19)
    (folder / ".git").mkdir(parents=True)
    words = ["".join(chance.choices("abcdefghijklmnop ", k=60)) for _ in range(2000)]
    for number in range(megabytes):
        body = "".join(
            f"- request:\n    body: {chance.choice(words)}\n    headers:\n      server:\n"
            f"      - {chance.choice(words)}\n"
            for _ in range(5300)
        )
        if number % 2:
            (folder / f"r{number}.yaml").write_text(f"interactions:\n{body}version: 1\n")
            continue
        members = (
            f'  "k{each}": {{"message": "{chance.choice(words)}"}}' for each in range(11_500)
        )
        text = ",\n".join(['  "server": {"message": "Server"}', *members])
        (folder / f"m{number}.json").write_text(f"{{\n{text}\n}}\n")
    return folder
