"""Documents in every style a person or a program might choose, for the laws of the syntax engines.

Each strategy gives a text and the value it was written from. A `Random` from Hypothesis makes the
choices of style, so that a failing document still shrinks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import yaml
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from equipage.core.path import ROOT, Path
from equipage.syntax.yaml.scalars import resolve_plain
from lab import tries

#: For laws over whole documents: those take a while to make, more so on a busy machine.
LAW = settings(max_examples=tries(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])

#: Letters, quotes, brackets, blanks, escapes, line breaks of all sorts, and characters beyond 16
#: bits.
ALPHABET = "ab.:#-_ \"'\\[]{},=&*!|>%@`~?\t\n0é\u2028\x85\u200b😀𝒳"
STRINGS = st.text(ALPHABET, max_size=12)
NAMES = st.one_of(st.text("abc_-019", min_size=1, max_size=4), STRINGS)
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALARS = st.one_of(st.booleans(), NUMBERS, STRINGS)


def trees(scalars: st.SearchStrategy[object], *, leaves: int = 20) -> st.SearchStrategy[object]:
    """Values made of `scalars`, lists and mappings."""
    return st.recursive(
        scalars,
        lambda below: st.one_of(
            st.lists(below, max_size=4), st.dictionaries(NAMES, below, max_size=4)
        ),
        max_leaves=leaves,
    )


def paths_of(value: object, path: Path = ROOT) -> Iterator[tuple[Path, object]]:
    """Every path of a value, with the value at that path."""
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from paths_of(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from paths_of(child, (*path, index))


@st.composite
def damaged(draw: st.DrawFn, documents: st.SearchStrategy[tuple[str, object]]) -> str:
    """A text that was a document until some characters were dropped, doubled or put in."""
    text, _ = draw(documents)
    random = draw(st.randoms(use_true_random=False))
    for _ in range(random.randint(1, 3)):
        at = random.randint(0, len(text))
        text = (
            text[:at]
            + random.choice(["", *ALPHABET, "\ud800", "\0", '"""', "[["])
            + text[at + random.randint(0, 2) :]
        )
    return text


# --- JSON ----------------------------------------------------------------------------------------


class _JsonWriter:
    def __init__(self, random: Random) -> None:
        self.random = random

    def blank(self) -> str:
        return self.random.choice(["", "", " ", "\n", "\r\n", "\t", " \n  "])

    def string(self, text: str) -> str:
        return '"' + "".join(map(self.character, text)) + '"'

    def character(self, character: str) -> str:
        plain = character not in '"\\' and character >= " "
        if plain and self.random.random() < 0.8:
            return character
        units = character.encode("utf-16-be")
        escapes = [f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2)]
        return self.random.choice(["".join(escapes), json.dumps(character)[1:-1]])

    def value(self, value: object) -> str:
        if isinstance(value, dict):
            entries = [self.entry(key, each) for key, each in value.items()]
            if (
                value and self.random.random() < 0.3
            ):  # a duplicate that loses, with something below it
                key = self.random.choice(list(value))
                entries.insert(
                    0, self.entry(key, self.random.choice([{"a": [1]}, [[0], {"b": 2}], 5]))
                )
            return "{" + self.blank() + ",".join(entries) + self.blank() + "}"
        if isinstance(value, list):
            return (
                "["
                + ",".join(self.blank() + self.value(each) + self.blank() for each in value)
                + "]"
            )
        return self.string(value) if isinstance(value, str) else json.dumps(value)

    def entry(self, key: str, value: object) -> str:
        blank = self.blank
        return blank() + self.string(key) + blank() + ":" + blank() + self.value(value) + blank()


@st.composite
def json_documents(draw: st.DrawFn) -> tuple[str, object]:
    value = draw(trees(st.one_of(st.none(), SCALARS)))
    writer = _JsonWriter(draw(st.randoms(use_true_random=False)))
    return writer.blank() + writer.value(value) + writer.blank(), value


# --- TOML ----------------------------------------------------------------------------------------


class Written(str):
    """A date or time: in TOML without quotes, in the value as text."""


DATES = st.sampled_from(
    [
        "1979-05-27",
        "07:32:00.5",
        "1979-05-27T07:32:00Z",
        "1979-05-27 07:32:00-07:00",
        "1979-05-27t00:32:00.999999",
    ]
).map(Written)


class _TomlWriter:
    def __init__(self, random: Random) -> None:
        self.random = random

    def blank(self) -> str:
        return self.random.choice(["", " ", "\t", "  "])

    def gap(self) -> str:
        """What may be written between the entries of a list."""
        return self.random.choice(["", " ", "\n", "\n # ]}, 'comment' \"\n "])

    def key(self, name: str) -> str:
        bare = name.isascii() and name and all(each.isalnum() or each in "-_" for each in name)
        if bare and self.random.random() < 0.7:
            return name
        if (
            all(each not in "'\n" and (each >= " " or each == "\t") for each in name)
            and self.random.random() < 0.5
        ):
            return f"'{name}'"
        return self.basic(name)

    def dotted(self, names: tuple[str, ...]) -> str:
        return (self.blank() + "." + self.blank()).join(map(self.key, names))

    def basic(self, text: str, quote: str = '"') -> str:
        return (
            quote
            + "".join(self.character(each, raw="\n" if len(quote) == 3 else "") for each in text)
            + quote
        )

    def character(self, character: str, raw: str) -> str:
        if character in raw or (
            character not in '"\\' and character >= " " and self.random.random() < 0.8
        ):
            return character
        named = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
        return self.random.choice(
            [f"\\U{ord(character):08x}", named.get(character, f"\\U{ord(character):08X}")]
        )

    def string(self, text: str) -> str:
        forms = [self.basic(text), self.basic(text, '"""')]
        if text.startswith("\n"):
            forms[1] = '"""\n' + forms[1][3:]
        if "'" not in text and "\n" not in text:
            forms.append(f"'{text}'")
        if "''" not in text and not text.endswith("'"):
            forms.append(f"'''\n{text}'''")
        return self.random.choice(forms)

    def value(self, value: object) -> str:
        if isinstance(value, dict):
            entries = self.inline(value)
            return "{" + ",".join(self.blank() + each + self.blank() for each in entries) + "}"
        if isinstance(value, list):
            items = [self.gap() + self.value(each) + self.gap() for each in value]
            return (
                "["
                + ",".join(items)
                + (self.random.choice(["", ","]) if items else "")
                + self.gap()
                + "]"
            )
        if isinstance(value, Written):
            return str(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        return self.string(value) if isinstance(value, str) else repr(value)

    def inline(self, table: dict[str, object], prefix: tuple[str, ...] = ()) -> list[str]:
        """The entries of a table inside one key or bracket; some tables below become dotted keys."""
        entries: list[str] = []
        for name, value in table.items():
            if isinstance(value, dict) and value and self.random.random() < 0.4:
                entries += self.inline(value, (*prefix, name))
            else:
                entries.append(
                    self.dotted((*prefix, name))
                    + self.blank()
                    + "="
                    + self.blank()
                    + self.value(value)
                )
        return entries

    def table(self, path: tuple[str, ...], table: dict[str, object], header: str) -> str:
        """A table with a header, and the tables below it that have headers of their own."""
        body: dict[str, object] = {}
        below: list[str] = []
        for name, value in table.items():
            child = (*path, name)
            if isinstance(value, dict) and self.random.random() < 0.6:
                below.append(self.table(child, value, f"[{self.dotted(child)}]"))
            elif self.is_tables(value) and self.random.random() < 0.7:
                below += [self.table(child, each, f"[[{self.dotted(child)}]]") for each in value]
            else:
                body[name] = value
        own = "".join(self.line(each) for each in [header, *self.inline(body)] if each)
        if header.startswith("[") and not header.startswith("[[") and below:
            if not body and self.random.random() < 0.5:
                return "".join(below)  # a table that only holds tables needs no header
            if self.random.random() < 0.3:
                return "".join(below) + own
        return own + "".join(below)

    def is_tables(self, value: object) -> bool:
        return (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(each, dict) for each in value)
        )

    def line(self, entry: str) -> str:
        return self.blank() + entry + self.random.choice(["\n", "  # [not] = a.table\n", "\n\n"])


@st.composite
def toml_documents(draw: st.DrawFn) -> tuple[str, dict[str, object]]:
    value = draw(st.dictionaries(NAMES, trees(st.one_of(SCALARS, DATES), leaves=12), max_size=5))
    writer = _TomlWriter(draw(st.randoms(use_true_random=False)))
    text = writer.table((), value, "")
    return (text.replace("\n", "\r\n") if draw(st.booleans()) else text), value


# --- YAML ----------------------------------------------------------------------------------------


class _YamlWriter:
    """Events for PyYAML's emitter, with styles, anchors and duplicates chosen at random."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.anchored: list[tuple[str, object]] = []
        self.latest: dict[str, int] = {}
        self.events: list[yaml.Event] = []

    def value(self, value: object) -> object:
        """Write a value, or an alias of an earlier one; returns what was written."""
        if self.anchored and self.random.random() < 0.2:
            name, value = self.random.choice(self.anchored)
            self.events.append(yaml.AliasEvent(name))
            return value
        if self.random.random() < 0.8:
            return self.node(value, None)
        anchor = self.random.choice(
            "abc"
        )  # used again on purpose: the node that starts latest has the name
        here = self.latest[anchor] = len(self.events)
        self.anchored = [each for each in self.anchored if each[0] != anchor]
        written = self.node(value, anchor)
        if self.latest[anchor] == here:
            self.anchored.append((anchor, written))
        return written

    def node(self, value: object, anchor: str | None) -> object:
        flow = self.random.random() < 0.3
        if isinstance(value, dict):
            self.events.append(yaml.MappingStartEvent(anchor, None, True, flow_style=flow))
            written = self.entries(value)
            self.events.append(yaml.MappingEndEvent())
            return written
        if isinstance(value, list):
            self.events.append(yaml.SequenceStartEvent(anchor, None, True, flow_style=flow))
            items = [self.value(each) for each in value]
            self.events.append(yaml.SequenceEndEvent())
            return items
        self.scalar(value, anchor)
        return value

    def entries(self, value: dict[str, object]) -> dict[str, object]:
        written: dict[str, object] = {}
        if value and self.random.random() < 0.3:  # a duplicate that loses
            self.scalar(next(iter(value)), None)
            self.value(self.random.choice([{"a": [1]}, [[0], {"b": 2}], 5]))
        for key, each in value.items():
            self.scalar(key, None)
            written[key] = self.value(each)
        return written

    def scalar(self, value: object, anchor: str | None) -> None:
        if not isinstance(value, str):
            event = yaml.ScalarEvent(anchor, None, (True, False), json.dumps(value))
        else:
            style = self.random.choice([None, "'", '"', "|", ">"])
            if any(each in value for each in "\x85\u2028"):
                style = '"'  # the emitter writes these as line breaks and does not read them back
            plain = (
                style is None
                and resolve_plain(value) == value
                and isinstance(resolve_plain(value), str)
            )
            event = yaml.ScalarEvent(anchor, None, (plain, True), value, style=style)
        self.events.append(event)


@st.composite
def yaml_documents(draw: st.DrawFn) -> tuple[str, object]:
    writer = _YamlWriter(draw(st.randoms(use_true_random=False)))
    start = [
        yaml.StreamStartEvent(),
        yaml.DocumentStartEvent(explicit=writer.random.random() < 0.3),
    ]
    value = writer.value(draw(trees(st.one_of(st.none(), SCALARS))))
    end = [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    # The emitter breaks strings wrongly where the indentation alone fills the line, so narrow lines
    # are indented little.
    width, indent = writer.random.choice([(40, 2), (80, 3), (1000, 8)])
    options = {
        "allow_unicode": writer.random.random() < 0.7,
        "width": width,
        "indent": indent,
        "line_break": writer.random.choice(["\n", "\r\n"]),
    }
    return yaml.emit([*start, *writer.events, *end], Dumper=yaml.Dumper, **options), value
