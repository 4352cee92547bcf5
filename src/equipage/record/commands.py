"""The files that commands of hooks and servers name or run, and those that runners read.

Commands are divided as a shell would do it, without running anything.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product
from typing import Any

import msgspec

from equipage.clients.grants import Grant, Reach
from equipage.clients.launchers import launch_of, split_command
from equipage.clients.reading import CLIENT_FOLDERS
from equipage.core.path import Path
from equipage.files import System, entries_of, is_below
from equipage.files.walking import is_ignored

#: Folders with what is installed or made, and not written by the authors of a project.
IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", ".git", ".hg", ".svn", ".venv"})
#: How clients and shells write the folder of the project, of a plugin or of a skill.
_PROJECT_PREFIX = re.compile(
    r"\$(?:env:)?\{?(?:\w*(?:project|plugin|workspace|extension|skill|repo)\w*|pwd|__dirname)"
    r"(?::[^}\s]*)?\}?[/\\]?|\.\.?/",
    re.IGNORECASE,
)
#: Commands that print that folder, inside of others.
PROJECT_FOLDER_COMMAND = re.compile(r"(?:\$\(|`)(?:git rev-parse --show-toplevel|pwd)(?:\)|`)/?")
#: Separates the words of a command.
WORD_BREAK = re.compile(r"[\s\"'`]+")
#: What ends a word inside of a word: a shell runs `sh -c "a.sh && b.sh"`, an option has `--file=x`.
_INNER_WORD_BREAK = re.compile(r"[\s;&|()<>\"'`=,]+")
#: What may be the path of a file, in a text of any language.
PATH_IN_TEXT = re.compile(r"/?[\w.+@%-]+(?:/[\w.+@%-]+)*")
MAX_PATH_LENGTH = 500
#: Files with secrets, by their name; examples of such files have none.
_PRIVATE_NAME = re.compile(
    r"(?:\A|/)(?:\.env(?!\.(?:example|sample|template|dist)\Z)(?:\.[^/]*)?"
    r"|[^/]*\.(?:pem|key|p12|pfx)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc)\Z"
)


def divide(texts: Iterable[str], folders: Iterable[str] = ()) -> list[list[str]]:
    """Commands divided into words, as a shell and as Windows read them, from each folder, too."""
    read = [
        split_command(each)
        for text in texts
        for each in dict.fromkeys((text, text.replace("\\", "/")))
    ]
    return [*read, *(["cd", folder, "&&", *words] for folder in folders for words in read)]


def folders_named(nodes: Iterable[tuple[Path, Any]]) -> list[str]:
    """The folders that a configuration starts commands in."""
    named = (value for path, value in nodes if path[-1:] == ("cwd",) and isinstance(value, str))
    return [*dict.fromkeys(named)]


#: How settings name a file that holds a value, or variables.
_VALUE = re.compile(r"\{file:([^}]+)\}")
_VARIABLES_KEYS = ("envFile", "env_file")
#: Keys of texts, which allow nothing.
_TEXT_KEYS = frozenset({"description", "instructions", "prompt", "template"})


def files_with_values(nodes: Iterable[tuple[Path, Any]]) -> Iterator[str]:
    """The files that a configuration names for values of its own."""
    for path, value in nodes:
        if isinstance(value, str) and _TEXT_KEYS.isdisjoint(path):
            yield from _VALUE.findall(value)
            if path[-1:] and path[-1] in _VARIABLES_KEYS:
                yield value


def code_loaded(grants: Iterable[Grant]) -> Iterator[str]:
    """The files with code that a client loads into itself: plugins that are named by a path."""
    for each in grants:
        if each.sort == "plugin" and each.name.startswith((".", "file:")):
            yield re.sub(r"\Afile:(?://)?", "", each.name).partition("(")[0]


def commands_that_guard(reaches: Iterable[Reach]) -> Iterator[str]:
    """The commands that can stop a call. What a client loads can stop calls, and let them pass."""
    for reach in reaches:
        yield from code_loaded(reach.grants)
        guarding = {each.path for each in reach.grants_of("guard")}
        yield from (each.name for each in reach.grants_of("program") if each.path in guarding)


def words_naming_files(commands: Iterable[list[str]]) -> Iterator[str]:
    """Every word of commands, and every word inside one, that may name a file."""
    for words in commands:
        # As they are, since a path may hold a blank; then as a shell inside would divide them.
        yield from map(strip_project_prefix, words)
        yield from _words_inside(
            _INNER_WORD_BREAK.split(PROJECT_FOLDER_COMMAND.sub("./", " ".join(words)))
        )


#: Ends a command inside a text; and words that may precede the program of a command.
_COMMAND_END = re.compile(r"&&|\|\||[;|&\n({]|(?<=\s)-c\s")
_COMMAND_PREFIX = re.compile(r"(?:\w+=\S*|exec|command|env|then|do|else|if|!|time|nohup|sudo)\Z")


def programs_run_by_name(commands: Iterable[list[str]]) -> frozenset[str]:
    """The files in commands that are run as programs, and not given to one: `./x`, not `sh x`."""
    found: set[str] = set()
    for words in commands:
        folder = ""
        for each in _COMMAND_END.split(PROJECT_FOLDER_COMMAND.sub("./", " ".join(words))):
            divided = WORD_BREAK.split(each.strip(" \t\r\"'`"))
            inner = list(itertools.dropwhile(_COMMAND_PREFIX.match, divided))
            if inner[:1] in (["cd"], ["pushd"]) and len(inner) > 1:
                folder = f"{strip_project_prefix(inner[1])}/"
            found.update(
                f"{before}{strip_project_prefix(word)}"
                for word in inner[:1]
                for before in ("", folder)
            )
        found.update(map(strip_project_prefix, words[:1]))  # a path may hold a blank
    return frozenset(found)


def _words_inside(words: list[str]) -> Iterator[str]:
    folder = ""
    for before, word in pairwise(("", *words)):
        if before in ("cd", "pushd"):
            folder = f"{strip_project_prefix(word)}/"
            continue
        if before == "-m":  # a module of Python
            module = word.replace(".", "/")
            yield from (f"{folder}{module}.py", f"{folder}{module}/__main__.py")
        yield strip_project_prefix(word)
        if folder:
            yield f"{folder}{strip_project_prefix(word)}"


def strip_project_prefix(word: str) -> str:
    """A path without a prefix such as `./` or `${PROJECT_DIR}/` for the project folder."""
    return _PROJECT_PREFIX.sub("", word, count=1) if _PROJECT_PREFIX.match(word) else word


#: Runners, and the files that say what they run.
_RUNNER_FILES = {
    runner: files.split()
    for runners, files in {
        "make": "GNUmakefile makefile Makefile",
        "just": "justfile Justfile .justfile",
        "task": "Taskfile.yml Taskfile.yaml",
        "npm pnpm yarn bun npx": "package.json",
        "python python3": "sitecustomize.py usercustomize.py",
        "uv poetry hatch pdm": "pyproject.toml",
        "docker docker-compose podman": "Dockerfile compose.yaml compose.yml docker-compose.yml "
        "docker-compose.yaml",
        "bundle rake": "Gemfile Rakefile rakefile Rakefile.rb",
        "gradle gradlew gradlew.bat": "build.gradle build.gradle.kts settings.gradle "
        "settings.gradle.kts gradle.properties gradle/wrapper",
        "mvn mvnw mvnw.cmd": "pom.xml .mvn",
        "nix nix-shell": "flake.nix flake.lock shell.nix default.nix",
        "bazel bazelisk": "BUILD BUILD.bazel MODULE.bazel WORKSPACE .bazelrc",
        "pre-commit prek": ".pre-commit-config.yaml",
        "invoke inv": "tasks.py",
        "cargo": "Cargo.toml .cargo build.rs src/main.rs src/bin",
        "composer": "composer.json",
        "deno": "deno.json deno.jsonc package.json",
        "direnv": ".envrc",
        "lefthook": "lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml "
        ".lefthook.yaml .lefthook.toml .lefthook.json",
        "mise": "mise.toml .mise.toml mise .mise .config/mise.toml .config/mise "
        "mise-tasks .mise-tasks .tool-versions",
        "nox": "noxfile.py",
        "poe": "pyproject.toml poe_tasks.toml",
        "tox": "tox.ini tox.toml setup.cfg pyproject.toml",
        "turbo": "turbo.json package.json",
    }.items()
    for runner in runners.split()
}
#: Files that say where launchers fetch what they run.
_LAUNCHER_FILES = (".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", "uv.toml", "pip.conf")
#: What languages add to the name of a module, and the folders where they look for it.
_MODULE_ENDINGS = (
    *("", ".py", "/__init__.py", "/__main__.py", ".rb", ".pm"),
    *(stem + end for stem in ("", "/index") for end in (".js", ".cjs", ".mjs", ".ts", ".mts")),
)
_MODULE_FOLDERS = ("", "src", "lib")
#: The folder before a wildcard or a variable, such as `hooks/` of `hooks/*.sh` and `hooks/$1.sh`.
_BEFORE_WILDCARD = re.compile(r"(?<![\w.+@%/-])[\w.+@%/-]*/(?=[\w.+@%-]*[*?\[${%])")
#: A variable in the folder of another, such as `"$HERE/$1.sh"`: it may be that of the script.
_BESIDE = re.compile(r"(?:[})\"'`]|\$\w+)/\$")
#: Code, by its name; other texts name no modules.
_CODE = re.compile(r"(?:\A|[/\\])\.?[^/\\.]+\Z|\.(?:\w*sh|[cm]?[jt]sx?|py|rb|p[lm]|ps1|mk)\Z")
#: Texts for people: no program follows what they name.
_PROSE = re.compile(r"\.(?:md|mdx|markdown|rst|adoc|html?|svg|css)\Z", re.IGNORECASE)
#: Where version control keeps what it knows; no program of a project is in it.
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
#: How many files one command may lead to; of more, it is said that they are not judged.
MAX_READ = 2000
#: A script that is longer, or names more, is not searched for further names.
_MAX_SCRIPT, _MAX_NAMES = 1024 * 1024, 10_000


def paths_meant(words: Sequence[str], *, is_code: bool) -> list[str]:
    """The paths that words of a command or text may mean; of modules, without their endings."""
    found = dict.fromkeys((*words, *_BEFORE_WILDCARD.findall("\n".join(words))))
    if is_code:  # `join("a", "b", "c.json")`
        found |= dict.fromkeys(map("/".join, pairwise(words)))
        found |= dict.fromkeys(map("/".join, zip(words, words[1:], words[2:], strict=False)))
    for word in tuple(found):
        bare = re.sub(r"\A(?:-\w)?/*", "", word)  # as in `${HERE%/*}/a.sh`, and in `-r./a.rb`
        found |= dict.fromkeys((bare, bare.partition("/")[2]))  # `HERE/a/b.sh`
        if is_code and "/" not in word:  # `a.b.c` may be what `a/b.py` has
            parts = word.strip(".").split(".")[:20]
            found |= dict.fromkeys(itertools.accumulate(parts, "{}/{}".format))
    return [
        each
        for each in found
        if 0 < len(each) <= MAX_PATH_LENGTH and "\0" not in each and (is_code or may_be_path(each))
    ]


class FileRead(msgspec.Struct, frozen=True):
    """A file that a command leads to; the root if there are more than are looked for."""

    path: str
    runs: bool = False  #: whether it is run as a program
    is_code: bool = True  #: whether a command or its runner names it, or it is code by its name


#: Beginnings of paths that name nothing.
_NO_NAMES = frozenset({"", ".", ".."})


class _Search:
    """A search for the files that words lead to; of those that are found, new words come.

    A word waits with the folders where its path may start, and whether code has it.
    """

    def __init__(self, start: str, root: str, system: System, *, follow: bool) -> None:
        self.root, self.system, self.places = root, system, folders_up(start, root)
        self.follow = follow  #: whether folders and scripts that are found are looked into
        #: folder → the names in it, with their endings and without: it spares most looks at files
        self.names: dict[str, set[str]] = {}
        #: where paths may start, each with what it adds to the base; and all names in these
        self.starts: dict[tuple[str, int, bool], tuple[list[tuple[str, str]], set[str]]] = {}
        self.folders = set(self.places)
        self.programs: set[str] = set()  #: the words that are run as programs
        self.is_cut_off = False
        self.waiting = deque[tuple[str, list[str], bool]]()
        self.seen: dict[str, bool] = {}  #: file → whether it is run as a program
        #: the words of each folder that were looked for: its scripts have much in common
        self.asked: dict[tuple[str, bool, bool], set[str]] = {}

    def files_of(self, commands: Sequence[list[str]]) -> Iterator[FileRead]:
        """The files that commands lead to and those before did not, or did not run."""
        words = dict.fromkeys(
            part for word in words_naming_files(commands) for part in (word, *word.split(":"))
        )
        runners = {
            os.path.basename(word) for each in commands for word in WORD_BREAK.split(" ".join(each))
        }
        for runner in sorted(runners & _RUNNER_FILES.keys()) if self.follow else ():
            words |= dict.fromkeys(_RUNNER_FILES[runner])
        self.programs.update(programs_run_by_name(commands))
        named = paths_meant([*words], is_code=True)
        self.waiting += ((each, self.places, True) for each in named)
        while self.waiting and len(self.seen) < MAX_READ:
            word, bases, is_code = self.waiting.popleft()
            key = bases[0], bases is self.places, is_code
            asked = self.asked.setdefault(key, set())
            if word in asked:
                continue
            asked.add(word)
            for path in self.paths_of(word, bases, is_code=is_code):
                for file in (path + each for each in (_MODULE_ENDINGS if is_code else ("",))):
                    is_new, runs = file not in self.seen, word in self.programs
                    if is_new and not self.system.is_file(file):
                        continue
                    if is_new or (runs and not self.seen[file]):
                        self.seen[file] = runs
                        is_named = bases is self.places or _CODE.search(file) is not None
                        yield FileRead(file, runs, is_named)
                    if is_new and self.follow and not _PROSE.search(file):
                        self.add_words_of(file)
        if self.waiting or self.is_cut_off:
            yield FileRead(self.root)

    def paths_of(self, word: str, bases: list[str], *, is_code: bool) -> Iterator[str]:
        """Where a word leads below the root, as far as there may be a file."""
        first = word.partition("/")[0].lower()
        starts, names = self.starts_of(bases, is_code)
        for before, base in starts if first in names else ():
            if first not in _NO_NAMES and first not in self.names_in(base):
                continue
            path = os.path.normpath(os.path.join(base, word))
            folder, name = os.path.split(path)
            if path == self.root or name.lower() not in self.names_in(folder):
                continue
            # In the text of a script, the folder of a client is a part of a path.
            is_whole = may_be_path(word) and word.strip("./") and word not in CLIENT_FOLDERS
            if not before and (bases is self.places or is_whole):
                self.add_folder(path, bases)
            yield path

    def starts_of(self, bases: list[str], is_code: bool) -> tuple[list[tuple[str, str]], set[str]]:
        key = bases[0], len(bases), is_code
        if key not in self.starts:
            found = product(bases, _MODULE_FOLDERS if is_code else ("",))
            starts = [(more, os.path.join(base, more) if more else base) for base, more in found]
            names = _NO_NAMES.union(*(self.names_in(base) for _, base in starts))
            self.starts[key] = starts, {*names}
        return self.starts[key]

    def names_in(self, folder: str) -> set[str]:
        """The names in a folder of the project; none of one that is not there."""
        if folder not in self.names:
            above, name = os.path.split(folder)
            is_there = folder == self.root or (
                is_below(folder, self.root) and name.lower() in self.names_in(above)
            )
            entries = entries_of(folder, self.system) if is_there else ()
            names = {each.name.lower() for each in entries} - _VERSION_CONTROL
            self.names[folder] = names | {os.path.splitext(each)[0] for each in names}
        return self.names[folder]

    def add_folder(self, path: str, bases: list[str]) -> None:
        """Add the files in a folder that a word names, which starts at some bases."""
        if self.follow and path not in self.folders and self.system.is_folder(path):
            self.folders.add(path)
            below = [*islice(files_below(path, self.system), MAX_READ)]
            self.is_cut_off |= len(below) == MAX_READ
            self.waiting += ((os.path.join(path, each), bases, False) for each in below)

    def add_words_of(self, file: str) -> None:
        """Add what a script names: it lies beside it, or below where it is started."""
        is_code = _CODE.search(file) is not None
        data = self.system.peek(file, max_bytes=_MAX_SCRIPT)
        text = (data or b"").decode("utf-8", "replace")
        named = [*PATH_IN_TEXT.findall(text), *_BEFORE_WILDCARD.findall(text)]
        if data is None or len(set(named)) > _MAX_NAMES:
            self.is_cut_off |= is_code
            return
        if is_code and _BESIDE.search(text):
            names = (each.name for each in entries_of(os.path.dirname(file), self.system))
            named += filter(_CODE.search, names)
        run = sorted(programs_run_by_name([[text]])) if is_code else ()
        programs = paths_meant(run, is_code=True)
        self.programs.update(programs)
        beside = [*dict.fromkeys((os.path.dirname(file), *self.places))]
        words = (*programs, *paths_meant(named, is_code=is_code))
        self.waiting += ((each, beside, is_code) for each in words)


def files_read_by(
    commands: Sequence[list[str]], start: str, root: str, system: System, *, follow: bool = True
) -> Iterator[FileRead]:
    """The files of a project that commands run, those that these name, and what runners read.

    `start` is the folder of the configuration. With `follow=False`, only those that the commands
    themselves name.
    """
    return _Search(start, root, system, follow=follow).files_of(commands)


def files_led_to(
    commands: Sequence[list[str]],
    reaches: Iterable[Reach],
    nodes: Sequence[tuple[Path, Any]],
    start: str,
    root: str,
    system: System,
) -> tuple[dict[str, bool], list[str]]:
    """The files that a configuration leads to, each with whether it is run as a program; and the
    code among them that decides whether a call is stopped.
    """
    folders = folders_named(nodes)
    guarding = divide(commands_that_guard(reaches), folders)
    values = divide(files_with_values(nodes), folders)
    search = _Search(start, root, system, follow=True)
    deciding = [*search.files_of(guarding)]
    found = (
        *deciding,
        *search.files_of(commands),
        *files_read_by(values, start, root, system, follow=False),
    )
    code = [each.path for each in deciding if each.is_code]
    return {each.path: each.runs for each in found}, code


def files_beside_launchers(
    commands: Sequence[list[str]], root: str, system: System
) -> Iterator[str]:
    """The files of a project that decide what its launchers fetch, or what they run instead."""
    launches = [found for words in commands if (found := launch_of(words)) is not None]
    for name in _LAUNCHER_FILES if launches else ():
        if system.is_file(os.path.join(root, name)):
            yield os.path.join(root, name)
    for package in {re.sub(r"(?<=.)@.*", "", each.package) for each in launches}:
        folder = os.path.join(root, "node_modules", package)
        for name in islice(files_below(folder, system), MAX_READ):
            path = os.path.join(folder, *name.split("/"))
            if not is_ignored(path, system):
                yield path


def folders_up(folder: str, root: str) -> list[str]:
    """A folder and those above it, up to the root. Clients differ in where paths start: beside the
    file, or somewhere above it.
    """
    found = [folder]
    while folder.startswith(root) and folder not in (root, os.sep):
        found.append(folder := os.path.dirname(folder))
    return found


def may_be_path(word: str) -> bool:
    """Whether a word may name a file: without a dot or slash it is a program or an argument."""
    return ("." in word or "/" in word) and len(word) <= MAX_PATH_LENGTH and "\0" not in word


def is_private(path: str) -> bool:
    """Whether a file holds secrets, by its name."""
    return _PRIVATE_NAME.search(path.replace(os.sep, "/")) is not None


def files_below(folder: str, system: System) -> Iterator[str]:
    """The files of a folder at any depth, by their paths from there; links are not followed."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for entry in entries_of(os.path.join(folder, here), system):
            if entry.name.startswith(".") or entry.name in IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{here}{entry.name}/")
            elif entry.is_file(follow_symlinks=False) and not is_private(entry.name):
                yield f"{here}{entry.name}"
