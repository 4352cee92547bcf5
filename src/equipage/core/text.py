"""Regular expressions compiled on first use, guesses for misspelt names, printable text, globs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, AnyStr, cast

# ------------------------------------------------------------------------------------ expressions
# Most runs need few of the expressions at the top of modules, and compiling them all takes a tenth
# of a cold start.

_METHODS = ("findall", "finditer", "fullmatch", "match", "pattern", "search", "split", "sub")


def lazy_regex(pattern: AnyStr | Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but compiled, and checked, when it is first used.

    A pattern that has to be put together may be a function, which is called then.
    """
    return cast("re.Pattern[AnyStr]", _LazyRegex(pattern, flags))


class _LazyRegex:
    """Compiles on first use and then takes over the methods of the compiled expression."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._written: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pattern, flags = self._written
        compiled = re.compile(pattern() if callable(pattern) else pattern, flags)
        for each in _METHODS:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


# ------------------------------------------------------------------------------------------ lines

_LINE_BREAK = lazy_regex(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their breaks, as editors count them; an empty text is one.

    `str.splitlines` also breaks lines at characters that are part of the text in every format here.
    """
    return _LINE_BREAK.split(text)


# ------------------------------------------------------------------------------------------ names
# Other spellings of the same words come first: `maxDepth`, `max-depth` and `MAX_DEPTH` all mean
# `max_depth`. After them come slips of the finger: two at most, one in a short name. A guess
# further away would mislead, and so would one that says the opposite, so there is none.

#: Words that say the opposite of each other, or measure in another unit.
_OPPOSITES = (
    ("allow allowed", "deny denied", "block blocked", "disallow disallowed"),
    ("enable enabled", "disable disabled"),
    ("add added", "remove removed"),
    ("include included", "exclude excluded"),
    ("min", "max"),
    ("import", "export"),
    ("ms", "s sec secs seconds", "minutes", "hours", "days"),
)
_SENSES = {
    word: (number, sense)
    for number, group in enumerate(_OPPOSITES)
    for sense, words in enumerate(group)
    for word in words.split()
}
_MAX_SLIPS = 2
_NAME = lazy_regex(r"[\w.@$ -]+")
#: Where camelCase starts a new word.
_CAMEL_CASE_BOUNDARY = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])")
#: `difflib` ranks the candidates cheaply; only these few are then measured.
_MAX_MEASURED_NAMES = 5
#: Longer names are compared as a whole only: measuring costs the product of both lengths.
_MAX_MEASURED_LENGTH = 100
#: What the guesses of one load may cost, in pairs of letters: about a second. Looking at a known
#: name costs as much as a few of them, ranking one some more.
_GUESSING_BUDGET = 5_000_000
_LOOKUP_COST, _RANKING_COST = 30, 100
_MAX_KNOWN_NAMES = 50_000
#: Guesses among up to this many names, such as the fields of a model, are cached.
_MAX_CACHED_NAMES = 200


class Guesses:
    """The guesses of one load, with a limit on their cost.

    A text full of mistakes, all compared with names that it brings itself, would take time without
    end. The first mistakes get a guess, the rest none.
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _GUESSING_BUDGET

    @property
    def are_spent(self) -> bool:
        """Whether the budget is used up, so that a missing guess means nothing."""
        return self._left <= 0

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """As the function of this name; None, too, if the guesses are spent."""
        if self._left <= 0:
            return None
        # A set knows its hash: what was guessed among thousands of names is quickly found again.
        names = known if isinstance(known, frozenset) else tuple(islice(known, _MAX_KNOWN_NAMES))
        if len(name) <= _MAX_MEASURED_LENGTH and (
            names is known or len(names) <= _MAX_CACHED_NAMES
        ):
            guess, cost = _guess_with_cost(name, names)
            if cost < self._left:
                self._left -= cost
                return guess
        return self._search_nearest(name, names)

    def _search_nearest(self, name: str, names: tuple[str, ...] | frozenset[str]) -> str | None:
        spellings: dict[str, str] = {}
        for each in sorted(names)[:_MAX_KNOWN_NAMES] if isinstance(names, frozenset) else names:
            spellings.setdefault(normalise_spelling(each), each)
        wanted = normalise_spelling(name)
        self._left -= _LOOKUP_COST * len(spellings)
        if wanted in spellings:
            return spellings[wanted]
        if len(wanted) > _MAX_MEASURED_LENGTH:
            return None
        from difflib import get_close_matches  # slow to import, needed only for findings

        allowed = max(1, len(wanted) // 3)
        if _NAME.fullmatch(wanted):  # addresses and patterns share most of their letters
            allowed = min(allowed, _MAX_SLIPS)
        # Length and letters rule out most names before anything costly is asked.
        near = list(self._take_affordable(wanted, plausible_matches(wanted, spellings, allowed)))
        ranked = get_close_matches(wanted, near, n=_MAX_MEASURED_NAMES, cutoff=0.5)
        measured = [
            (edit_distance(wanted, each), rank, each)
            for rank, each in enumerate(ranked)
            if not are_opposite(wanted, each)
        ]
        slips, _, best = min(measured, default=(allowed + 1, 0, ""))
        return spellings[best] if slips <= allowed else None

    def _take_affordable(self, wanted: str, candidates: Iterable[str]) -> Iterator[str]:
        for each in candidates:
            if self._left <= 0:
                return
            self._left -= _RANKING_COST + len(wanted) * len(each)
            yield each


@lru_cache(maxsize=4096)
def _guess_with_cost(name: str, names: tuple[str, ...] | frozenset[str]) -> tuple[str | None, int]:
    """A guess and its cost; cached, because the files of a project repeat the same mistakes."""
    fresh = Guesses()
    return fresh._search_nearest(name, names), _GUESSING_BUDGET - fresh._left


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `name` is probably a misspelling of; None if nothing is close.

    Of equally close names the one that `difflib` ranks higher wins, then the earlier one, of a set
    the first by name. If a document brings both the name and the known ones, use the `Guesses` of
    its load.
    """
    return Guesses().nearest(name, known)


def normalise_spelling(name: str) -> str:
    """The name in a form that is equal for `maxDepth`, `max-depth` and `MAX_DEPTH`."""
    words = _CAMEL_CASE_BOUNDARY.sub("_", name)
    return words.casefold().replace("-", "_").replace(" ", "_")


def are_opposite(name: str, other: str) -> bool:
    """Whether two names, as `normalise_spelling` writes them, differ in a word and its opposite."""
    senses, others = (
        {_SENSES[word] for word in each.split("_") if word in _SENSES} for each in (name, other)
    )
    return any(a == b and x != y for a, x in senses - others for b, y in others - senses)


def plausible_matches(wanted: str, names: Iterable[str], allowed: int) -> Iterator[str]:
    """The names that may be within `allowed` edits, judged by length and letters alone."""
    letters = {letter: wanted.count(letter) for letter in wanted}
    for each in names:
        if abs(len(each) - len(wanted)) <= allowed:
            common = sum(min(count, each.count(letter)) for letter, count in letters.items())
            if max(len(each), len(wanted)) - common <= allowed:
                yield each


@lru_cache(maxsize=4096)
def is_likely_typo(name: str, known: str) -> bool:
    """Whether a name is probably a misspelling of a known one.

    One edit is allowed in up to five letters, two in more.
    """
    a, b = normalise_spelling(name), normalise_spelling(known)
    allowed = 1 if len(a) <= 5 else 2
    return a != b and abs(len(a) - len(b)) <= allowed and edit_distance(a, b) <= allowed


def edit_distance(a: str, b: str) -> int:
    """The number of edits that turn `a` into `b`.

    An edit is a character that is added, missing or replaced, or two neighbours that are swapped.
    """
    # Each row holds the distances of one beginning of `a` to every beginning of `b`; a swap looks
    # back two rows.
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            slips = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                slips = min(slips, earlier[j - 2] + 1)
            row.append(slips)
    return row[-1]


# --------------------------------------------------------------------------------------- printing

#: C0 and C1 controls, the characters that reorder or hide text, and `##[` and `##vso[`: build
#: services take these for commands anywhere in a line.
_UNSAFE = (
    r"#(?=#(?:vso)?\[)|"
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
UNSAFE = lazy_regex(_UNSAFE)
#: Without line breaks: a lock has tens of thousands of them.
_UNSAFE_IN_LINE = lazy_regex(_UNSAFE.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Text that is safe to print: control and invisible characters become escapes."""
    if text.isascii() and text.isprintable() and "##" not in text:
        return text  # nearly always; the expression takes longer to compile than a small check
    return UNSAFE.sub(_escape_character, text)


def _escape_character(match: re.Match[str]) -> str:
    # Line breaks and tabs have short escapes that people know; all others are numbers.
    code = ord(match.group())
    return _ESCAPES.get(match.group()) or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")


def code_page_url(site: str, code: str) -> str:
    """The address of the page of a code: on a site of these pages, or where `{code}` says."""
    return site.replace("{code}", code) if "{code}" in site else f"{site}/reference/codes/{code}/"


def visible_at_line_start(name: str) -> str:
    """A file name that is safe to print at the start of a line.

    Build services look for commands there; a name that looks like one gets a `./`.
    """
    text = visible(name)
    return f"./{text}" if text.lstrip().startswith(("::", "##")) else text


#: Line breaks, and the letters of ASCII that can be seen.
_PLAIN_ASCII = bytes([10, *range(32, 127)])


def visible_json(text: str) -> str:
    """A JSON text with the same value in which invisible characters are escaped; lines stay."""
    # The usual text, without a look at each letter.
    if text.isascii() and "##" not in text and not text.encode().translate(None, _PLAIN_ASCII):
        return text
    return _UNSAFE_IN_LINE.sub(_escape_character_in_json, text)


def _escape_character_in_json(match: re.Match[str]) -> str:
    letter = match.group()
    # The `#` of a command is an ordinary character to JSON, which may be escaped like any other.
    return f"\\u{ord(letter):04x}" if letter.isascii() else json.dumps(letter)[1:-1]


def describe_exception(error: BaseException) -> str:
    """The class of an exception and where it was raised; its message may hold secrets."""
    # The innermost frame is where it was raised; the frames above are ours.
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{type(error).__name__} at {file}:{trace.tb_lineno}"


#: A `]` right after the opening bracket is a member of the class: `[]a]`, `[!]]`.
_CLASS_PATTERN = r"\[[!^]?+(?P<members>\]?+[^\]]*)\]"
_CLASS = lazy_regex(_CLASS_PATTERN)
_RANGE = lazy_regex(r"(.)-(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def glob_problem(glob: str) -> str | None:
    """Why a pattern is not valid, in words; None if it is."""
    depth = position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "[":
            match = _CLASS.match(glob, position)
            if match is None:
                return "`[` is never closed"
            if any(low > high for low, high in _RANGE.findall(match["members"])):
                return "a range runs backwards"
            position = match.end()
            continue
        if letter == "\\":
            position += 1
            if position == len(glob):
                return "it ends with `\\`"
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return "`}` without `{`"
        position += 1
    return "`{` is never closed" if depth else None


def glob_hint(reason: str) -> str:
    """How to correct a pattern that is not valid for a reason."""
    return _GLOB_HINTS.get(reason, "close the bracket, or escape it with `\\`")


_GLOB_HINTS = {
    "a range runs backwards": "write the lower end first, as in `[a-z]`",
    "it ends with `\\`": "remove the last `\\`, or write it twice",
    "`}` without `{`": "remove it, or escape it with `\\`",
}


def glob_covers(wide: str, narrow: str) -> bool:
    """Whether a pattern certainly matches everything that another one matches."""
    if len(wide) + len(narrow) > _MAX_COMPARED_LENGTH:
        return wide == narrow
    return all(
        any(_tokens_cover(_tokenize(one), _tokenize(other)) for one in _expand_braces(wide))
        for other in _expand_braces(narrow)
    )


#: Stars, `?`, a class; a backslash and the character it escapes, or any other character.
_TOKEN = lazy_regex(rf"(?P<stars>\*+)|\?|{_CLASS_PATTERN}|\\?(?P<literal>.)", re.DOTALL)
_BRACES = lazy_regex(r"\{([^{}\\\[]*)\}")
_MAX_COMPARED_LENGTH = 1000
#: A pattern with more alternatives than this is compared as it is written.
_MAX_ALTERNATIVES = 64


def _expand_braces(glob: str) -> list[str]:
    """A pattern without its groups: `a{b,c}` is `ab` and `ac`."""
    done, left = list[str](), [glob]
    while left and len(done) + len(left) <= _MAX_ALTERNATIVES:
        group = _BRACES.search(each := left.pop())
        if group is None:
            done.append(each)
        else:
            before, after = each[: group.start()], each[group.end() :]
            left += (f"{before}{choice}{after}" for choice in group[1].split(","))
    return [glob] if left else done


def _tokenize(glob: str) -> list[str]:
    """`*`, `?`, classes as they are written, and single characters after a backslash."""
    return [
        f"\\{match['literal']}" if match["literal"] else "*" if match["stars"] else match[0]
        for match in _TOKEN.finditer(glob)
    ]


def _tokens_cover(wide: list[str], narrow: list[str]) -> bool:
    # The positions in `wide` that may come next. Behind the last token there is an empty one.
    wide, places = [*wide, ""], {0}
    for token in (*narrow, ""):
        places |= {at + 1 for at in places if wide[at] == "*"}  # a star may match nothing
        stay = {at for at in places if wide[at] == "*" and token}
        places = stay | {at + 1 for at in places - stay if _token_covers(wide[at], token)}
    return len(wide) in places


def _token_covers(wide: str, narrow: str) -> bool:
    """Whether one token of a pattern, not a star, matches all that another one does."""
    if wide == "?":
        return narrow not in ("*", "")
    if wide.startswith("[") and narrow.startswith("\\"):
        negated = wide[1] in "!^"
        members = re.findall(r"(.)(?:-(.))?", wide[1 + negated : -1], re.DOTALL)
        return negated != any(low <= narrow[1] <= (high or low) for low, high in members)
    return wide == narrow


_WILDCARD = lazy_regex(r"[*?\[\]{}\\]")


def is_literal(glob: str) -> bool:
    """Whether a pattern is just a name."""
    return not _WILDCARD.search(glob)


# Bytes of a pipe, cut into lines: what every server of MCP reads.


class LineSplitter:
    """Cuts bytes into lines; a line that is too long is None once, and skipped."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are complete now. Without data, the last one."""
        # The end of the input ends a line, too.
        if not data and self._rest:
            data = b"\n"  # the client need not end its last line
        *whole, rest = (bytes(self._rest) + data).split(b"\n") if b"\n" in data else [data]
        if b"\n" not in data:
            self._rest += rest
        else:
            self._rest = bytearray(rest)
        for line in whole:
            # The rest of a line that was refused already.
            if self._skipping:
                self._skipping = False
            elif len(line) > self.longest:
                yield None
            else:
                yield line
        if len(self._rest) > self.longest:
            if not self._skipping:
                self._skipping = True
                yield None
            self._rest.clear()
