"""Globs over the end of a path, as the tables of kinds write them: `.claude/agents/**/*.md`.

`{a,b}` is a choice, `*` any text inside a step, `**` any number of steps. A repository has many
thousand files and the tables have a few hundred globs, so `Places` decides by folder which of them
can match at all; for a file, only its name is left to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec


def path_pattern(globs: Iterable[str]) -> str:
    """An expression that is found in absolute paths with `/` whose end matches one of the globs."""
    return f"/(?:{'|'.join(_translated(each) for glob in globs for each in choices(glob))})\\Z"


def _translated(glob: str) -> str:
    return re.escape(glob).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")


def choices(glob: str) -> list[str]:
    """A glob without `{a,b}`: one for each choice."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [each for word in braces[1].split(",") for each in choices(before + word + after)]


def hidden_folders(globs: Iterable[str]) -> frozenset[str]:
    """The hidden folders that the globs speak of."""
    steps = (step for glob in globs for each in choices(glob) for step in each.split("/")[:-1])
    return frozenset(step for step in steps if step.startswith("."))


class _Rule(msgspec.Struct, frozen=True):
    """One glob without choices: the folder and the name it asks for."""

    order: int
    kind: str
    glob: str
    word: str | None  #: a step without wildcards that the folder must have
    folder: re.Pattern[str] | None
    name: str  #: the name itself, or its end if there are wildcards before it
    pattern: re.Pattern[str] | None  #: of the name, if it has wildcards

    def takes(self, name: str) -> bool:
        if self.pattern is None:
            return name == self.name
        return name.endswith(self.name) and self.pattern.fullmatch(name) is not None


def _rules(rows: Iterable[tuple[str, Iterable[str]]]) -> Iterator[_Rule]:
    order = 0
    for kind, globs in rows:
        for glob in (each for written in globs for each in choices(written)):
            head, _, last = glob.rpartition("/")
            pattern = None
            if "*" in last:
                pattern = re.compile(re.escape(last).replace(r"\*", "[^/]*"))
            plain = [step for step in head.split("/") if step and "*" not in step]
            # The steps of the head, each with its slash: so `**` may be no step at all.
            folder = re.compile(f"/{_translated(head + '/')}\\Z") if head else None
            name = last.rpartition("*")[2]
            yield _Rule(order, kind, glob, plain[-1] if plain else None, folder, name, pattern)
            order += 1


class Places:
    """The kinds that have a place: rows of a kind and its globs, the first that matches counts."""

    def __init__(self, rows: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._anywhere: list[_Rule] = []
        self._by_word: dict[str, list[_Rule]] = {}
        for rule in _rules(rows):
            if rule.word is None:
                self._anywhere.append(rule)
            else:
                self._by_word.setdefault(rule.word, []).append(rule)
        #: a walk asks for the files of one folder after the other
        self._in = lru_cache(maxsize=512)(self._rules_in)

    def find(self, path: str) -> tuple[str, str] | None:
        """The kind of an absolute path with `/`, and the glob that says so."""
        folder, _, name = path.rpartition("/")
        for rule in self._in(folder):
            if rule.takes(name):
                return rule.kind, rule.glob
        return None

    def _rules_in(self, folder: str) -> tuple[_Rule, ...]:
        """The rules for names in a folder, in order."""
        found = [each for each in self._anywhere if _is_in(each, folder)]
        for word in self._by_word.keys() & set(folder.split("/")):
            found += (each for each in self._by_word[word] if _is_in(each, folder))
        return tuple(sorted(found, key=lambda each: each.order))


def _is_in(rule: _Rule, folder: str) -> bool:
    return rule.folder is None or rule.folder.search(f"{folder}/") is not None
