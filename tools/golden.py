"""Compare what two trees answer: this one, and that of another commit.

    python tools/golden.py BASE [--only WORD] [--keep FOLDER] [--base-python PYTHON]

Before a change that must not change behaviour, and after each of its steps: makes a worktree of the
commit BASE in a temporary folder, with an environment that its own `tools/install.py` fills, asks
both trees the same questions (`tools/questions.py`), and prints every difference. Nothing is
stored. This tree is asked with the Python that runs this script.

The questions are about the examples, the input files of `tests/cases` and, if it is there, the
corpus beside the repository; all of them are those of BASE. Names of temporary folders and versions
are left out of the comparison, and so are the import lines of stubs. Files may be opened less often
than before, and not more; instructions are printed and never a difference.

`--keep` makes the worktree in a folder that stays, and uses it again if it is at BASE; with
`--base-python`, BASE is asked with that Python instead of an environment of its own.
Exit 0 if both answer alike, else 1.
"""

from __future__ import annotations

import argparse
import base64
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "tools" / "questions.py"
CORPUS = ROOT.parent / "shared" / "corpus"
#: A block of a case file, with the name of its file if the line before gives one.
BLOCK = re.compile(
    r"^(?:`(?P<name>[^`\n]+)`\n+)?"
    r"(?P<fence>`{3,})(?P<tag>[a-z0-9_-]*)[^\n]*\n(?P<body>.*?)(?<=\n)(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
#: Lines longer than this are divided before they are compared.
LONG = 200

Answers = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Side:
    """A tree, the Python to ask it with, and the folder with the files it is asked about."""

    tree: Path
    python: Path
    work: Path

    def environment(self) -> dict[str, str]:
        sources = [self.tree / "src", *sorted(self.tree.glob("packages/*/src"))]
        home = self.work / "home"
        home.mkdir(exist_ok=True)
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "COLUMNS": "80",
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONHASHSEED": "0",
            # Of no meaning to a tree without a cache of results.
            "EQUIPAGE_NO_CACHE": "1",
        }

    def start(self, answers: Path, only: str) -> subprocess.Popen[bytes]:
        command = [str(self.python), "-P", "-s", str(QUESTIONS), str(answers), "--only", only]
        return subprocess.Popen(command, cwd=self.work, env=self.environment())


# --------------------------------------------------------------------------------------- both sides


def git(*words: str, folder: Path = ROOT) -> str:
    settings = ("user.name=A", "user.email=a@example.org", "commit.gpgsign=false", "gc.auto=0")
    command = ["git", *(word for each in settings for word in ("-c", each)), *words]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make_base(commit: str, tree: Path, python: Path | None) -> Path:
    """Check a commit out, unless that is done; returns the Python to ask it with."""
    if not tree.exists():
        git("worktree", "add", "--force", "--detach", str(tree), commit)
    elif git("rev-parse", "HEAD", folder=tree) != commit:
        sys.exit(f"golden: {tree} is not at {commit[:8]}")
    if python is not None:
        return python.absolute()
    environment = tree / ".venv"
    installed = environment / "installed-by-golden"
    python = environment / "bin" / "python"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        install = [str(python), "tools/install.py", "--editable", "--dev"]
        subprocess.run(install, cwd=tree, check=True)
        installed.touch()
    return python


def write_case(path: Path, kind: str, folder: Path) -> dict[str, Any] | None:
    """Write the input files of a case; returns how its first file is loaded."""
    settings: dict[str, Any] = {}
    names: list[str] = []
    (folder / ".git").mkdir(parents=True)
    for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
        name, tag, body = block["name"], block["tag"], block["body"]
        if tag == "settings":
            settings = json.loads(body)
        if name is None or tag in ("settings", "findings", "result"):
            continue
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if tag == "symlink":
            file.symlink_to(body.strip())
            continue
        names.append(name)
        file.write_bytes(base64.b64decode(body) if tag == "base64" else body.encode())
    if not names:
        return None
    return {
        "entry": settings.get("entry") or names[0],
        "kind": settings.get("kind", kind),
        "env": settings.get("env", {}),
        "options": settings.get("options", {}),
    }


def copy_edited(source: Path, target: Path) -> None:
    """Copy a folder with other permissions in its files, and without some last lines."""

    def copy(file: str, to: str) -> None:
        data = Path(file).read_bytes()
        data = re.sub(rb"\bRead\b", b"Bash", data)
        data = re.sub(rb"\bfalse\b", b"true", data)
        if not to.endswith((".json", ".jsonc")):
            data = b"".join(data.splitlines(keepends=True)[:-1])
        Path(to).write_bytes(data)

    shutil.copytree(source, target, symlinks=True, copy_function=copy, dirs_exist_ok=True)


def make_material(base: Path, work: Path) -> None:
    """Write the files that a side is asked about: as they are, and below `edited`, edited."""
    unwanted = shutil.ignore_patterns("__pycache__", ".git", ".equipage_cache", "*.egg-info")
    shutil.copytree(base / "examples", work / "examples", symlinks=True, ignore=unwanted)
    (work / "examples" / ".git").mkdir()
    trees = [f"examples/{each.name}" for each in sorted((work / "examples").iterdir())]
    trees = [each for each in trees if (work / each).is_dir() and not each.endswith(".git")]
    corpora = sorted(CORPUS.iterdir()) if CORPUS.is_dir() else []
    for corpus in corpora:
        shutil.copytree(corpus, work / "corpus" / corpus.name, symlinks=True, ignore=unwanted)
        (work / "corpus" / corpus.name / ".git").mkdir()
    trees += [f"corpus/{each.name}" for each in corpora]
    cases = []
    for path in sorted((base / "tests" / "cases").glob("*/**/*.md")):
        name = path.relative_to(base / "tests").with_suffix("").as_posix()
        case = write_case(path, name.split("/")[1], work / name)
        if case is not None:
            cases.append({"tree": name, **case})
    repositories = ["edited/examples", *(f"edited/corpus/{each.name}" for each in corpora)]
    for repository in repositories:
        shutil.copytree(work / repository.removeprefix("edited/"), work / repository, symlinks=True)
        (work / repository / ".git").rmdir()
        git("init", "--quiet", "--template=", folder=work / repository)
        git("add", "--all", folder=work / repository)
        git("commit", "--quiet", "--message=as they are", folder=work / repository)
    for each in ("examples", "corpus", "cases"):
        if (work / each).is_dir():
            copy_edited(work / each, work / "edited" / each)
    told = {"trees": trees, "repositories": repositories, "cases": cases}
    (work / "material.json").write_text(json.dumps(told), encoding="utf-8")


def stubs(tree: Path) -> dict[str, str]:
    """What type checkers read, without import lines."""
    imports = re.compile(r"^(?:from \S+ )?import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
    paths = sorted((tree / "src" / "equipage").glob("*.pyi"))
    return {path.name: imports.sub("", path.read_text(encoding="utf-8")) for path in paths}


def instructions(side: Side) -> str:
    """The instructions of a cold check of an example, as cachegrind counts them."""
    check = [str(side.python), "-P", "-s", "-m", "equipage", "check", "."]
    folder, environment = side.work / "examples" / "conventions", side.environment()
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return "not counted, there is no valgrind"
    options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    subprocess.run(check, cwd=folder, env=environment, check=False, capture_output=True)
    done = subprocess.run(
        [valgrind, *options, *check],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    return counted[1] if counted else "not counted"


# --------------------------------------------------------------------------------------- comparison


def plain(answers: Answers, side: Side, versions: set[str]) -> Answers:
    """Answers without what may vary: names of folders, versions."""
    names = {str(side.work): "<work>", str(side.tree): "<tree>", **dict.fromkeys(versions, "<v>")}
    varying = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    return {
        question: {
            subject: varying.sub(lambda found: names[found[0]], text)
            for subject, text in subjects.items()
        }
        for question, subjects in answers.items()
    }


def more_opens(base: str, here: str) -> str:
    """The opens of a side, without those that fell."""
    before = {name: int(count) for count, _, name in map(_divided, base.splitlines())}
    kept = []
    for line in here.splitlines():
        count, _, name = _divided(line)
        if not count.isdigit() or int(count) > before.get(name, 0):
            kept.append(line)
    return "\n".join(kept)


def _divided(line: str) -> tuple[str, str, str]:
    return line.partition(" ")


def lines_in(text: str) -> list[str]:
    """The lines of a text, long ones divided at what closes a value."""
    return [
        part
        for line in text.splitlines()
        for part in (re.split(r"(?<=[,>{}])", line) if len(line) > LONG else [line])
    ]


def difference(base: str | None, here: str | None) -> Iterator[str]:
    """The lines of a unified diff."""
    if base is None or here is None:
        yield "only in this tree" if base is None else "only in the base"
        return
    found = difflib.unified_diff(lines_in(base), lines_in(here), "base", "here", "", "", 1, "")
    yield from list(found)[2:]


def compare(base: Answers, here: Answers, *, lines: int, most: int) -> int:
    """Print the differences, grouped by question; returns how many answers differ."""
    total = 0
    for question in sorted({*base, *here}):
        old, new = base.get(question, {}), here.get(question, {})
        differing = [each for each in sorted({*old, *new}) if old.get(each) != new.get(each)]
        if question == "opens":
            fewer = [each for each in differing if each in old and each in new]
            fewer = [each for each in fewer if not more_opens(old[each], new[each])]
            print("".join(f"opens {each}: fewer than before\n" for each in fewer), end="")
            differing = [each for each in differing if each not in fewer]
        if not differing:
            print(f"{question}: {len(new)} alike")
            continue
        total += len(differing)
        print(f"\n{question}: {len(differing)} of {len({*old, *new})} differ")
        for subject in differing[:most]:
            found = list(difference(old.get(subject), new.get(subject)))
            print(f"  {question} {subject}")
            print("".join(f"    {line[:LONG]}\n" for line in found[:lines]), end="")
            if len(found) > lines:
                print(f"    … {len(found) - lines} lines more")
        for subject in differing[most:]:
            print(f"  {question} {subject}")
        print()
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare what two trees answer.")
    parser.add_argument("base", metavar="BASE", help="the commit to compare with")
    parser.add_argument("--only", default="", metavar="WORD", help="only questions with this word")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the worktree here")
    parser.add_argument("--base-python", type=Path, metavar="PYTHON", help="ask BASE with it")
    parser.add_argument("--lines", type=int, default=12, help="lines of a difference")
    parser.add_argument("--most", type=int, default=4, help="differences of a question in full")
    options = parser.parse_args()
    began = time.monotonic()
    commit = git("rev-parse", f"{options.base}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="golden-") as temporary:
        top = Path(temporary).resolve()
        tree = options.keep.resolve() if options.keep else top / "tree"
        try:
            python = make_base(commit, tree, options.base_python)
            return ask_both(tree, python, top, options, began)
        finally:
            if not options.keep:
                git("worktree", "remove", "--force", str(tree))


def ask_both(tree: Path, python: Path, top: Path, options: argparse.Namespace, began: float) -> int:
    """Ask both sides at once and print what differs; returns the exit code."""
    # Names of one length: some output depends on how long a path is.
    sides = [Side(tree, python, top / "base"), Side(ROOT, Path(sys.executable), top / "here")]
    for side in sides:
        make_material(tree, side.work)
    files = [top / "base.json", top / "here.json"]
    running = [side.start(file, options.only) for side, file in zip(sides, files, strict=True)]
    codes = [each.wait() for each in running]
    if any(codes):
        sys.exit(f"golden: the questions ended with exit codes {codes}")
    told = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    versions = {each["version"] for each in told}
    answers = []
    for side, each in zip(sides, told, strict=True):
        if not Path(each["file"]).is_relative_to(side.tree):
            sys.exit(f"golden: {side.python} imports {each['file']} instead of {side.tree}")
        if options.only in "stubs":
            each["answers"]["stubs"] = stubs(side.tree)
        answers.append(plain(each["answers"], side, versions))
    count = compare(*answers, lines=options.lines, most=options.most)
    if options.only in "instructions":
        base, here = map(instructions, sides)
        print(f"instructions of a cold check: {base} in the base, {here} here")
    asked = sum(map(len, answers[1].values()))
    print(f"{count} of {asked} answers differ ({time.monotonic() - began:.0f} s)")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
