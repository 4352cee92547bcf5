"""`.gitignore` patterns, read as git itself reads them.

A pattern without a slash is matched against names, any other against the path below the folder of
its file. The last pattern that matches decides, files further down before those above. Git compares
bytes, this module characters: `?` is one `é`, not half of it. Two stars that do not fill a step, as
in `x**/`, are one star, as git documents; older versions of git take some of them for whole steps.

The engine is our own because pathspec adds 28 % to a cold check and has an open denial of service
by backtracking. Here every pattern costs at most its length times that of the path, and most cost
nothing for most paths, however many lines there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from equipage.core.text import lazy_regex

_MATCH_NOTHING = "(?!)"
#: Files up to this length are cached.
_MAX_CACHED_LENGTH = 4096
#: How many names are cached for each file of patterns.
_MAX_CACHED_NAMES = 10_000
#: How many texts a name is compared with at once, and how many names are looked up.
_MAX_HINT_TEXTS, _MAX_HINT_NAMES = 50, 1000
#: What `[:name:]` means inside a set; git knows ASCII only.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
    "space": "\\t-\\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = lazy_regex(r"\[:(\w*):\]")
#: A line without the spaces at its end. A backslash and what it escapes belong together, so `\ `
#: stays; a lone backslash at the very end is kept after the spaces.
_TRAILING_SPACES = lazy_regex(r"((?:\\.|[^\\ ]| +(?=[^ ]))*) *(\\?)", re.DOTALL)


class Pattern(msgspec.Struct, frozen=True):
    """One line of a `.gitignore`."""

    glob: str  #: without the slash at its start and its end
    negated: bool
    folders_only: bool
    names_only: bool  #: matched against the last step of a path alone

    def matches(self, subject: str) -> bool:
        """Whether the line matches a name or a path."""
        return _compile_glob(self.glob).fullmatch(subject) is not None


@lru_cache(maxsize=10_000)
def _compile_glob(glob: str) -> re.Pattern[str]:
    """Compiled late: few lines of a file ever have to be matched on their own."""
    return re.compile(glob_expression(glob), re.DOTALL)


#: A set of the plainest form, which is one character. In `[!]a]`, the first bracket is a member.
_SIMPLE_SET = lazy_regex(r"\[(?![!^]\])[^\[\]\\/]+\]")
#: What ends the text at the beginning of a glob; and a glob that is text with one star.
_WILDCARD = lazy_regex(r"[*?\[\\]")
_ONE_STAR = lazy_regex(r"([^*?\[\\/]*)\*([^*?\[\\/]*)")


#: The number of a line, a text that is in all it matches, and one that these end with.
_Line = tuple[int, str, str]


class _Hints(msgspec.Struct, frozen=True):
    """A quick test that rules out most paths before any pattern is tried.

    A repository has several `.gitignore` files, and no line of any matches most paths. A few
    comparisons tell that, without looking at each file.
    """

    names: frozenset[str] = frozenset()  #: names of files and folders
    begins: tuple[str, ...] = ()  #: how names begin
    ends: tuple[str, ...] = ()  #: how names end
    parts: tuple[str, ...] = ()  #: what names contain
    paths: frozenset[str] = frozenset()
    #: prefixes of paths that a line matches whatever their names are
    open_in: tuple[str, ...] = ()

    def may_match(self, path: str, name: str) -> bool:
        """Whether a line may match a path that ends with that name; False is certain."""
        if name in self.names or name.endswith(self.ends) or name.startswith(self.begins):
            return True
        if path in self.paths or path.startswith(self.open_in):
            return True
        return bool(self.parts) and any(each in name for each in self.parts)

    def combine_with_parent(self, base: str, above: _Hints) -> _Hints:
        """Combine the hints of a file in the folder `base` with those of the folders above."""
        return _make_hints(
            self.names | above.names,
            above.paths.union([base + each for each in self.paths]),
            {*self.begins, *above.begins},
            {*self.ends, *above.ends},
            {*self.parts, *above.parts},
            {*(base + each for each in self.open_in), *above.open_in},
        )


def _make_hints(
    names: frozenset[str],
    paths: frozenset[str],
    begins: set[str],
    ends: set[str],
    parts: set[str],
    open_in: set[str],
) -> _Hints:
    # Comparing with many texts would cost more than it spares, and so would copying many names.
    few = len(begins) + len(ends) + len(parts) + len(open_in) <= _MAX_HINT_TEXTS
    if not few or len(names) + len(paths) > _MAX_HINT_NAMES:
        return _Hints(ends=("",))
    return _Hints(names, tuple(begins), tuple(ends), tuple(parts), paths, tuple(open_in))


class Patterns:
    """All patterns of one file, sorted so that a path meets few of them.

    A text is looked up, whatever the number of lines. A name with one star is looked up by what is
    before the star and after it. Every other glob is tried only on paths that begin as it does.
    Each table holds the numbers of lines: the last line that matches decides.
    """

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self._names: dict[str, list[int]] = {}
        self._paths: dict[str, list[int]] = {}
        #: text before the star → text after it → lines
        self._stars: dict[str, dict[str, list[int]]] = {}
        #: the lengths of the texts before stars by their first letter, and of those after by these
        self._befores: dict[str, list[int]] = {}
        self._afters: dict[str, list[int]] = {}
        #: first letter of a name, or first steps of a path with `/` before them → lines, from the
        #: last on, each with a text that what it matches has, and one that it ends with
        self._others: dict[str, list[_Line]] = {}
        for number, each in enumerate(patterns):
            self._add(number, each)
        for before, found in self._stars.items():
            self._befores.setdefault(before[:1], []).append(len(before))
            self._afters[before] = sorted({len(after) for after in found})
        self._befores = {each: sorted(set(found)) for each, found in self._befores.items()}
        #: the ends of names that begin with a star
        self._ends = tuple(self._stars.get("", ()))
        for lines in self._others.values():
            lines.reverse()
        #: how many steps the longest beginning in `_others` has
        self._steps = max((key.count("/") for key in self._others if key != "/"), default=0)
        #: whether any line speaks of more than a name
        self.has_paths = bool(self._paths) or any(key[:1] == "/" for key in self._others)
        self._hints: _Hints | None = None
        #: the last line about a name, -1 for none; `/` is behind that of a folder
        self._of_name: dict[str, int] = {}
        #: the folder that was asked about last, and the lines with wildcards to be tried in it
        self._in_folder: tuple[str, list[_Line]] | None = None

    def _add(self, number: int, each: Pattern) -> None:
        start, *rest = _WILDCARD.split(each.glob, 1)
        if not rest:
            table = self._names if each.names_only else self._paths
            _replace_equal_line(table.setdefault(each.glob, []), number, self.patterns)
        elif each.names_only and (star := _ONE_STAR.fullmatch(each.glob)):
            found = self._stars.setdefault(star[1], {}).setdefault(star[2], [])
            _replace_equal_line(found, number, self.patterns)
        else:
            # The steps before the first wildcard, or the first letter of a name.
            key = start[:1] if each.names_only else start.rpartition("/")[0]
            lines = self._others.setdefault(f"{'' if each.names_only else '/'}{key}", [])
            lines.append((number, _required_text(each.glob), _required_ending(each.glob)))

    @property
    def hints(self) -> _Hints:
        """The hints for the lines of this file, with paths relative to it."""
        if self._hints is None:
            self._hints = self._collect_hints()
        return self._hints

    def _collect_hints(self) -> _Hints:
        begins = {each for each in self._stars if each}
        ends, parts, open_in = set(self._ends), set[str](), set[str]()
        for lines in self._others.values():
            for number, needed, ending in lines:
                each = self.patterns[number]
                start, end = _WILDCARD.split(each.glob, 1)[0], ending.rpartition("/")[2]
                if end:
                    ends.add(end)
                elif not each.names_only:
                    open_in.add(start)
                elif start:
                    begins.add(start)
                else:
                    parts.add(needed)
        names, paths = frozenset(self._names), frozenset(self._paths)
        return _make_hints(names, paths, begins, ends, parts, open_in)

    def decide(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether the path is ignored, None if no pattern speaks of it."""
        # Few names are new: those of files repeat from folder to folder.
        key = f"{name}/" if is_folder else name
        last = self._of_name.get(key)
        if last is None:
            last = self._last_line_for_name(name, is_folder=is_folder)
            if len(self._of_name) < _MAX_CACHED_NAMES:
                self._of_name[key] = last
        if self.has_paths:
            last = self._last_line_for_path(path, name, last, is_folder=is_folder)
        return None if last < 0 else not self.patterns[last].negated

    def _last_line_for_name(self, name: str, *, is_folder: bool) -> int:
        """The number of the last line that matches a name in any folder, or -1."""
        last = self._last_applicable_line(self._names.get(name, ()), -1, is_folder=is_folder)
        befores = self._befores.get(name[:1], [])
        if name.endswith(self._ends):  # one comparison spares nearly all names a look at each end
            befores = [0, *befores]
        for before in befores:
            start, room = name[:before], len(name) - before
            for after in self._afters.get(start, ()):
                if after > room:
                    break
                lines = self._stars[start].get(name[len(name) - after :], ())
                last = self._last_applicable_line(lines, last, is_folder=is_folder)
        for key in ("", name[:1]):
            last = self._last_matching_glob(self._others.get(key, ()), name, last, is_folder)
        return last

    def _last_line_for_path(self, path: str, name: str, last: int, *, is_folder: bool) -> int:
        """The number of the last line that matches a path, or `last` if none comes after it."""
        if path in self._paths:
            last = self._last_applicable_line(self._paths[path], last, is_folder=is_folder)
        folder = path[: len(path) - len(name)]
        known = self._in_folder
        if known is None or known[0] != folder:
            known = self._in_folder = folder, self._globs_for_folder(folder)
        return self._last_matching_glob(known[1], path, last, is_folder) if known[1] else last

    def _last_applicable_line(self, lines: Iterable[int], last: int, *, is_folder: bool) -> int:
        for number in lines:
            if number > last and (is_folder or not self.patterns[number].folders_only):
                last = number
        return last

    def _last_matching_glob(
        self, lines: Iterable[_Line], subject: str, last: int, is_folder: bool
    ) -> int:
        for number, needed, ending in lines:
            if number <= last:
                break
            # A search for text spares nearly all lines their expression, and its compilation.
            if needed not in subject or not subject.endswith(ending):
                continue
            each = self.patterns[number]
            if (is_folder or not each.folders_only) and each.matches(subject):
                return number
        return last

    def _globs_for_folder(self, folder: str) -> list[_Line]:
        """The lines with wildcards that paths in a folder are compared with, from the last on."""
        anywhere = self._others.get("/", [])
        lines: list[_Line] = []
        end = -1
        for _ in range(self._steps):
            end = folder.find("/", end + 1)
            if end < 0:
                break
            lines += self._others.get(f"/{folder[:end]}", ())
        return sorted((*anywhere, *lines), reverse=True) if lines else anywhere


class Ignores:
    """The patterns in force in a folder: its own, then those of the folders above."""

    def __init__(self, base: str, patterns: Patterns, above: Ignores | None = None) -> None:
        self.base = base  #: the folder of the patterns, absolute, with `/` at its end
        self.patterns = patterns
        self.above = above
        self._hints: _Hints = patterns.hints.combine_with_parent(
            base, _Hints() if above is None else above._hints
        )

    def is_ignored(self, path: str, name: str, *, is_folder: bool) -> bool:
        """Whether an absolute path with that name at its end is ignored."""
        if not self._hints.may_match(path, name):
            return False  # nearly always
        # A pattern further down decides before those above.
        here: Ignores | None = self
        while here is not None:
            patterns = here.patterns
            # Where a name is all that lines speak of, nothing else is looked at.
            inside = path[len(here.base) :] if patterns.has_paths else name
            decided = patterns.decide(inside, name, is_folder=is_folder)
            if decided is not None:
                return decided
            here = here.above
        return False


def _required_text(glob: str) -> str:
    """The longest text that is in every path that a glob matches."""
    plain = _SIMPLE_SET.sub("*", glob) if "[" in glob else glob
    # What follows a bracket or a backslash may mean something else; slashes belong to `**/`.
    plain = plain.partition("[")[0].partition("\\")[0].replace("?", "*")
    return max((each.strip("/") for each in plain.split("*")), key=len)


def _required_ending(glob: str) -> str:
    """The text that every path ends with that a glob matches."""
    if "[" in glob or "\\" in glob:
        return ""  # what follows may mean something else
    # A slash behind stars need not be there: `**/` may be no step at all.
    return glob.replace("?", "*").rpartition("*")[2].lstrip("/")


def _replace_equal_line(lines: list[int], number: int, patterns: tuple[Pattern, ...]) -> None:
    """Keep a line instead of an equal one before it, so that repeated lines cost nothing."""
    only = patterns[number].folders_only
    lines[:] = [each for each in lines if patterns[each].folders_only != only] + [number]


def parse_ignores(text: str) -> Patterns:
    """The patterns of a `.gitignore`, in order."""
    return (
        _parse_patterns_cached(text) if len(text) <= _MAX_CACHED_LENGTH else _parse_patterns(text)
    )


@lru_cache(maxsize=64)
def _parse_patterns_cached(text: str) -> Patterns:
    """Many folders of a repository have the same file, made from one template."""
    return _parse_patterns(text)


def _parse_patterns(text: str) -> Patterns:
    lines = dict.fromkeys(reversed(text.removeprefix("\ufeff").split("\n")))  # the last one counts
    patterns = (_parse_line(line) for line in reversed(lines))
    return Patterns(tuple(each for each in patterns if each is not None))


def _parse_line(line: str) -> Pattern | None:
    line = line.removesuffix("\r")
    match = _TRAILING_SPACES.fullmatch(line) if line.endswith(" ") else None
    line = line if match is None else match[1] + match[2]
    if not line or line.startswith("#"):
        return None
    negated, line = line.startswith("!"), line.removeprefix("!")
    folders_only, line = line.endswith("/"), line.removesuffix("/")
    names_only = "/" not in line
    glob = line.removeprefix("/")
    if glob.startswith("**/") and "/" not in glob[3:]:
        glob, names_only = glob[3:], True  # in any folder
    return Pattern(glob, negated, folders_only, names_only)


#: Tokens of a glob that are not one character: any text inside a step, any number of whole steps.
_STAR, _STEPS = "*", "**"


@lru_cache(maxsize=256)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob over a path from the project root; one without a `/` is a name in any folder."""
    body = glob_expression(glob.lstrip("/"))
    return re.compile(body if "/" in glob else f"(?:.*/)?{body}")


def glob_expression(glob: str) -> str:
    """A gitignore glob as a regular expression over a relative path with `/`.

    Between wildcards the first match is as good as any other, so the atomic groups `(?>…)` never
    take it back: this is what keeps a pattern full of stars from backtracking.
    """
    first, *rest = map(_section_expression, _split(_tokens(glob), _STEPS))
    if not rest:
        return first
    between = "".join(f"(?>(?:[^/]*/)*?{each})" for each in rest[:-1])
    return f"{first}{between}(?:[^/]*/)*{rest[-1]}"


def _section_expression(tokens: list[str]) -> str:
    """What is between whole steps: literal parts with stars between them."""
    first, *rest = ["".join(part) for part in _split(tokens, _STAR)]
    if not rest:
        return first
    between = "".join(f"(?>[^/]*?{part})" for part in rest[:-1] if part)
    return f"{first}{between}[^/]*{rest[-1]}"


def _split(tokens: list[str], divider: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == divider:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _tokens(glob: str) -> list[str]:
    """Expressions for single characters, and wildcards as they are."""
    tokens: list[str] = []
    position = 0
    while position < len(glob):
        character = glob[position]
        if character == "*":
            token, position = _read_stars(glob, position)
        elif character == "?":
            token, position = "[^/]", position + 1
        elif character == "[":
            token, position = _read_set(glob, position)
        elif character == "\\":
            token = re.escape(glob[position + 1]) if position + 1 < len(glob) else _MATCH_NOTHING
            position += 2
        else:
            token, position = re.escape(character), position + 1
        tokens.append(token)
    return tokens


def _read_stars(glob: str, position: int) -> tuple[str, int]:
    """One star stays inside a step. Two are any number of steps, if they replace whole ones."""
    end = position
    while glob[end : end + 1] == "*":
        end += 1
    # `a**` and `**b` are stars like one; `**/` takes its slash along.
    is_step = glob[position - 1 : position] in ("", "/") and glob[end : end + 1] in ("", "/")
    if end - position < 2 or not is_step:
        return _STAR, end
    return (_STEPS, end + 1) if end < len(glob) else (".*", end)


def _read_set(glob: str, position: int) -> tuple[str, int]:
    """A set of characters. One that is never closed matches nothing at all."""
    start = position + 1
    negated = glob[start : start + 1] in ("!", "^")
    start = current = start + negated
    members: list[str] = []
    # A `]` right at the start is a member, not the end.
    while glob[current : current + 1] != "]" or current == start:
        named = _CLASS.match(glob, current)
        if named is not None:
            if named[1] not in _CLASSES:
                return _MATCH_NOTHING, len(glob)
            members.append(_CLASSES[named[1]])
            current = named.end()
            continue
        first, current = _read_set_member(glob, current)
        last = first
        if glob[current : current + 1] == "-" and glob[current + 1 : current + 2] not in ("]", ""):
            last, current = _read_set_member(glob, current + 1)
        if not first or not last:
            return _MATCH_NOTHING, len(glob)
        # A range that runs backwards is its first character.
        members.append(f"{re.escape(first)}-{re.escape(max(first, last))}")
    # A set never matches `/`, not even a negated one.
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]", current + 1


def _read_set_member(glob: str, position: int) -> tuple[str, int]:
    """One character of a set, without the backslash before it; empty at the end of the glob."""
    if glob[position : position + 1] == "\\":
        position += 1
    return glob[position : position + 1], position + 1
