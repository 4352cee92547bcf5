"""Text for people: findings with the line they are about, changes of values, tables, and YAML.

```text
error[wrong-type]: expected text, found the number 5
  --> tools/echo.yaml:3:9 at tools[0].tool.name
   |
 3 |   name: 5
   |         ^
  ::: server.yaml:2:15 included from here
   = help: put quotes around it
```
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from equipage.core.diagnostics import SEVERITIES, Diagnostic, Label
from equipage.core.path import ROOT, Path
from equipage.core.source import Outline, Source, Span
from equipage.core.text import lazy_regex, split_lines, visible, visible_at_line_start
from equipage.loading.wording import Bare
from equipage.workspace.report import Report

if TYPE_CHECKING:
    from equipage.record.diff import Change


#: The ANSI escape for each role.
_COLOURS: dict[str, str] = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "place": "1;34",
    "bold": "1",
    "help": "32",
}
#: A line may be as long as a file; no terminal has this many columns.
_MAX_COLUMNS = 2_000
#: A line that is too long is cut, but this much stays before the marked part.
_MARGIN = 12
#: The lines of a change are indented by this much, and a value is shown to this many lines.
_INDENT, _MOST_LINES = "      ", 12
#: The space between the columns of a table, the least that its last column is continued in, and
#: the indent of what goes below a row.
_GAP, _MIN_LAST_WIDTH, _OVERFLOW_INDENT = 2, 24, "    "


# Most findings of a file come one after the other, so few texts are kept.
@lru_cache(maxsize=8)
def _mask_secrets(text: str) -> str:
    """A text without its secrets."""
    from equipage.syntax.suspicious import mask_secrets  # not needed where nothing is found

    return mask_secrets(text)


class Style:
    """How to write: with colour and links or without, how wide, whether tables must fit."""

    def __init__(
        self, *, colour: bool = False, width: int = 100, fits: bool = True, links: bool = False
    ) -> None:
        self.colour = colour
        self.fits = fits
        self.links = links
        self.width = max(20, width)

    def paint(self, role: str, text: str) -> str:
        return f"\x1b[{_COLOURS[role]}m{text}\x1b[0m" if self.colour and text else text

    def link(self, text: str, url: str | None) -> str:
        """Text that a terminal opens `url` for; the escape is that of OSC 8."""
        if url is None or not self.links:
            return text
        return f"\x1b]8;;{visible(url)}\x1b\\{text}\x1b]8;;\x1b\\"


def render(
    report: Report,
    style: Style,
    *,
    quiet: bool = False,
    concise: bool = False,
    limit: int | None = None,
) -> Iterator[str]:
    """The report, piece by piece: the findings of each file, errors first, then the summary.

    At most `limit` findings are printed, and the others counted; `concise` gives each one line.
    """
    shown = [each for each in report.diagnostics if not quiet or each.severity == "error"]
    if len({each.severity for each in shown}) > 1:
        shown.sort(key=lambda each: (each.name or "", SEVERITIES.index(each.severity)))
    is_grouped = False
    if not concise and len(shown) > 1:
        from equipage.render.grouping import group_by_cause  # most files have one finding, or none

        everything, shown = len(shown), group_by_cause(shown)
        is_grouped = len(shown) < everything
    hidden = max(0, len(shown) - limit) if limit else 0
    for each in shown[: len(shown) - hidden]:
        yield render_line(each, style) if concise else render_finding(each, style) + "\n"
    if hidden:
        yield f"… and {hidden:,} more; print all with --limit 0\n" + ("" if concise else "\n")
    if is_grouped:
        yield "print every place with -f concise\n\n"
    yield summary(report, style, quiet=quiet)


def render_line(each: Diagnostic, style: Style) -> str:
    """One finding on one line."""
    place = visible_at_line_start(each.name or "equipage")
    if each.span is not None:
        row, column = each.span.source.position(each.span.start)
        place = f"{place}:{row}:{column}"
    code = style.link(style.paint(each.severity, f"{each.severity}[{each.code}]"), each.url)
    path = f" (at {each.path})" if each.path else ""
    mark = "" if each.fix is None else " [fixable]" if each.fix.safe else " [unsafe fix]"
    times = f" (×{each.count})" if each.count > 1 else ""
    return f"{style.paint('bold', place)}: {code} {each.message}{path}{times}{mark}\n"


def render_finding(each: Diagnostic, style: Style) -> str:
    """One finding as a block of lines."""
    spans = (each.span, *(label.span for label in each.related))
    gutter = len(str(max((span.line for span in spans if span is not None), default=1)))
    code = style.link(style.paint(each.severity, f"{each.severity}[{each.code}]"), each.url)
    times = f" (×{each.count})" if each.count > 1 else ""
    lines = [code + style.paint("bold", f": {each.message}") + times]
    lines += _frame_lines(each, gutter, style)
    for label in each.related:
        lines += _label_lines(label, gutter, style)
    margin = " " * (gutter + 2)
    bullet = f"{margin}{style.paint('place', '=')}"
    if each.help:
        first, *rest = each.help.split("\n")
        lines.append(f"{bullet} {style.paint('help', 'help')}: {first}")
        lines += [f"{margin}        {line}" for line in rest]
    if each.fix is not None:
        kind = "fix" if each.fix.safe else "unsafe fix (may change what the file means)"
        lines.append(f"{bullet} {style.paint('help', kind)}: {each.fix.message}")
    return "\n".join(lines) + "\n"


def _frame_lines(each: Diagnostic, gutter: int, style: Style) -> Iterator[str]:
    arrow = style.paint("place", " " * (gutter + 1) + "-->")
    at = f" at {each.path}" if each.path else ""
    if each.span is not None:
        yield f"{arrow} {_position(each.span)}{at}"
        yield f"{' ' * gutter}  {style.paint('place', '|')}"
        yield from excerpt(each.span, "^", gutter, style, each.severity)
    elif each.name:
        yield f"{arrow} {visible(each.name)}{at}"


def _label_lines(label: Label, gutter: int, style: Style) -> Iterator[str]:
    if label.span is None:
        yield f"{' ' * gutter}  {style.paint('place', '=')} {label.message}"
        return
    mark = style.paint("place", " " * (gutter + 1) + ":::")
    yield f"{mark} {_position(label.span)} {label.message}"
    yield from excerpt(label.span, "-", gutter, style, "place")


def _position(span: Span) -> str:
    return f"{visible(span.source.name)}:{span.line}:{span.column}"


def excerpt(span: Span, mark: str, gutter: int, style: Style, role: str) -> Iterator[str]:
    """The line that a span starts on, and marks below the part it covers."""
    if isinstance(span.source, Outline):
        return  # the finding came from another process, without the text
    number, column = span.source.position(span.start)
    line = line_to_show(span.source, number)
    # A span may continue on the next line, or lie behind the end of its own.
    end = min(column - 1 + max(1, span.end - span.start), max(len(line), column))
    text, start, length = _window(line, column - 1, end, style.width - gutter - 4)
    bar = style.paint("place", "|")
    yield f"{style.paint('place', str(number).rjust(gutter + 1))} {bar} {text}".rstrip()
    yield f"{' ' * gutter}  {bar} {' ' * start}{style.paint(role, mark * max(1, length))}"


def line_to_show(source: Source, number: int) -> str:
    """A line of a source with asterisks for secrets, which may span several lines."""
    hidden = _mask_secrets(source.text)
    if hidden is source.text:
        return source.line(number)
    return split_lines(hidden.removeprefix("\ufeff"))[number - 1]


def _window(line: str, start: int, end: int, width: int) -> tuple[str, int, int]:
    """The part of a line that fits, safe to print; the offset and the length of its marks."""
    width = max(16, width)
    end = min(end, start + _MAX_COLUMNS)
    # `low` is where the shown part starts: a little before the marks, but not so late that the
    # line is left half empty.
    low = 0
    if end > _MAX_COLUMNS or display_width(line[:end]) > width:
        low = max(0, min(start - min(_MARGIN, width // 3), len(line) - width))
    before = ("…" if low else "") + _make_printable(line[low:start])
    marked = _make_printable(line[start:end])
    # No character is wider than four columns, a tab, so this is enough to fill the line.
    text = before + marked + _make_printable(line[end : low + 4 * width])
    offset = display_width(before)
    return truncate(text, width), offset, max(1, min(display_width(marked), width - offset))


def truncate(text: str, width: int) -> str:
    """The text, or as much of it as fits with an ellipsis."""
    # `fits` is the number of characters that leave a column for the ellipsis.
    used = fits = 0
    for number, each in enumerate(text):
        used += display_width(each)
        if used > width:
            return text[:fits] + "…"
        if used < width:
            fits = number + 1
    return text


def _make_printable(text: str) -> str:
    return visible(text.replace("\t", "    "))


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # slow to import, and most texts are ASCII

    # Combining characters take no column, wide and full-width ones two.
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def summary(report: Report, style: Style, *, quiet: bool = False) -> str:
    """The last line: how many findings in how many files, and how many of them can be fixed."""
    shown = [each for each in report.diagnostics if not quiet or each.severity == "error"]
    counts = Counter(each.severity for each in shown)
    parts = [style.paint(word, _plural(counts[word], word)) for word in SEVERITIES if counts[word]]
    known = f", {_plural(report.known, 'known one')} in the baseline" if report.known else ""
    # What cannot be loaded is a problem, whether or not its errors are reported.
    bad_files = len(report.hidden)
    rest = f"; {_plural(bad_files, 'file')} cannot be loaded" if bad_files else ""
    if not parts:
        nothing = "no new problems" if known else "no problems"
        nothing = "no errors" if report.diagnostics else nothing
        nothing = "no errors reported" if bad_files else nothing
        return f"{_plural(len(report.files), 'file')} checked, {nothing}{known}{rest}\n"
    found = parts[0]
    if len(parts) > 1:
        found = f"{_plural(len(shown), 'problem')} ({', '.join(parts)})"
    bad = {each.name for each in shown} - {None}
    # A finding may be about something that is not a file of the report: an unreadable folder.
    total = bad | {each.path for each in report.files}
    fixes = _fixable_note(shown)
    return f"{found} in {len(bad):,} of {_plural(len(total), 'file')}{known}{fixes}{rest}\n"


def _fixable_note(shown: Sequence[Diagnostic]) -> str:
    """How many findings have a fix that can be applied, and how many an unsafe one."""
    safe = sum(each.fix is not None and each.fix.safe for each in shown)
    unsafe = sum(each.fix is not None and not each.fix.safe for each in shown)
    words = [f"{safe:,} fixable with --fix"] if safe else []
    if unsafe:
        words.append(f"{unsafe:,} {'more' if safe else 'fixable'} with --unsafe-fixes")
    return "".join(f", {each}" for each in words)


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


# Changes of values: what they were, and what they are.


def change_lines(change: Change, style: Style) -> Iterator[str]:
    """The lines below the head of a change, marked with `-` and `+`."""
    before, after = change.before, change.after
    if change.how == "reordered":
        yield from _mark_lines("-", [", ".join(map(str, before))], style)
        yield from _mark_lines("+", [", ".join(map(str, after))], style)
        return
    are_texts = isinstance(before, str) and isinstance(after, str)
    if change.how == "changed" and are_texts and "\n" in before + after:
        yield from _text_diff_lines(before, after, style)
        return
    if change.how != "added":
        yield from _mark_lines("-", _value_lines(before), style)
    if change.how != "removed":
        yield from _mark_lines("+", _value_lines(after), style)


def _value_lines(value: Any) -> list[str]:
    if isinstance(value, dict | list) and value:
        lines = dump_yaml(value).rstrip("\n").split("\n")
    elif isinstance(value, str) and "\n" in value:
        lines = value.rstrip("\n").split("\n")
    else:
        lines = [json.dumps(value, ensure_ascii=False)]
    lines = _mask_secrets("\n".join(lines)).split("\n")
    hidden = len(lines) - _MOST_LINES
    return lines if hidden <= 1 else [*lines[:_MOST_LINES], f"… {hidden} more lines"]


def _text_diff_lines(before: str, after: str, style: Style) -> Iterator[str]:
    """The lines in which two texts differ, with one line around them."""
    from difflib import unified_diff

    old, new = (split_lines(_mask_secrets(each)) for each in (before, after))
    if old[-1] == new[-1] == "":  # behind the last line, both texts end
        old, new = old[:-1], new[:-1]
    found = unified_diff(old, new, lineterm="", n=1)
    for line in list(found)[2:]:  # after the names of the files
        if not line.startswith("@@"):
            yield from _mark_lines(line[0], [line[1:]], style)


def _mark_lines(mark: str, lines: list[str], style: Style) -> Iterator[str]:
    role = {"-": "error", "+": "help"}.get(mark)
    for line in lines:
        text = truncate(f"{mark} {visible(line)}", style.width - len(_INDENT))
        yield f"{_INDENT}{style.paint(role, text) if role else text}".rstrip()


# Tables: columns as wide as their content. Nothing is cut: people copy it and search for it.


def table(head: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> str:
    """Rows under a head. Empty columns are left out.

    Where they do not fit, the last column is continued on further lines. If that leaves too little
    room, the columns at the right go below their row, each after its name.
    """
    # Columns, by their number.
    shown = [number for number in range(len(head)) if any(row[number] for row in rows)]
    names, *lines = ([visible(row[number]) for number in shown] for row in (head, *rows))
    widths = [max(map(display_width, column)) for column in zip(names, *lines, strict=True)]
    beside = len(widths)
    if style.fits and _row_width(widths) > style.width:
        last = style.width - _row_width(widths[:-1]) - _GAP
        if last >= _MIN_LAST_WIDTH:
            widths[-1] = last
        else:
            extents = (_row_width(widths[: each + 1]) for each in range(1, len(widths)))
            beside = 1 + sum(each <= style.width for each in extents)
    made = [style.paint("bold", _format_row(names[:beside], widths))]
    for line in lines:
        if beside < len(line):
            made += [
                _format_row(line[:beside], widths),
                *_overflow_lines(names[beside:], line[beside:], style),
            ]
            continue
        first, *more = _wrap(line[-1], widths[-1])
        made.append(_format_row([*line[:-1], first], widths))
        made += (" " * (_row_width(widths[:-1]) + _GAP) + each for each in more)
    return "".join(f"{line}\n" for line in made)


def _row_width(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _format_row(line: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        field + " " * (width - display_width(field))
        for field, width in zip(line, widths, strict=False)
    )
    return (" " * _GAP).join(padded).rstrip()


def _overflow_lines(names: Sequence[str], line: Sequence[str], style: Style) -> Iterator[str]:
    """The fields of a row that do not fit beside the others. The last one may be prose."""
    *short, last = (
        "" if not field else f"{name.lower()}: {field}" if name else field
        for name, field in zip(names, line, strict=True)
    )
    width = style.width - len(_OVERFLOW_INDENT)
    together = "; ".join(filter(None, short))
    yield from (
        f"{_OVERFLOW_INDENT}{each}"
        for each in ([together] if display_width(together) <= width else short)
        if each
    )
    yield from (f"{_OVERFLOW_INDENT}{each}" for each in _wrap(last, width, indent="  ") if each)


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Text in lines of that width; a longer word has a line of its own."""
    from textwrap import TextWrapper

    if display_width(text) <= width:
        return [text]
    wrapper = TextWrapper(width, break_on_hyphens=False, break_long_words=False)
    wrapper.subsequent_indent = indent
    return wrapper.wrap(text)


# Values as YAML that people like to read, and that reads back as the same values. Text is written
# plain where possible, as a literal block if it has several lines, and in double quotes with
# escapes where anything else could be misread. Any scalar can have a comment.

_YAML_INDENT = "  "
#: libyaml does not read a key without `?` that is longer than this.
_MAX_YAML_KEY = 1000
#: Text without quotes. It starts with a harmless character; a colon must not be followed by a
#: space, nor a hash preceded by one. Narrower than YAML allows, so that readers need not know YAML.
_PLAIN_YAML = lazy_regex(
    r"""[\w$/\\^(](?:[\w .,;'"$&/\\^()\[\]{}+*@=~<>?!|%`\x80-\U0010ffff-]|:(?=\S)|(?<! )\#)*"""
)
#: What YAML text may contain unescaped, line feeds aside. Left out on purpose: characters that
#: hide or reorder text.
_PRINTABLE = (
    "\x20-\x7e\u00a0-\u00ac\u00ae-\u061b\u061d-\u200a\u2010-\u2027\u202f-\u205f\u2065\u2070-\ud7ff"
    "\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufff8\ufffc\ufffd\U00010000-\U0010ffff"
)
_PRINTABLE_YAML = lazy_regex(f"[{_PRINTABLE}]*")
_NEEDS_ESCAPE = lazy_regex(f"#(?=#(?:vso)?\\[)|[^{_PRINTABLE}]")
#: What build services take for a command, anywhere in a line or at its start: it gets an escape.
_BUILD_COMMAND = lazy_regex(r"##(?:vso)?\[|^[ \t]*::", re.MULTILINE)
_YAML_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
#: Gives text the colour of a role; without colours, the text as it is.
Paint = Callable[[str, str], str]


def dump_yaml(
    value: Any, comments: Mapping[Path, str] | None = None, paint: Paint = lambda _role, text: text
) -> str:
    """A plain value as a YAML document. `comments` are written behind the values at their paths."""
    return "\n".join(_YamlWriter(comments or {}, paint).node(value, ROOT, "")) + "\n"


class _YamlWriter:
    def __init__(self, comments: Mapping[Path, str], paint: Paint) -> None:
        self.comments, self.paint = comments, paint

    def node(self, value: Any, path: Path, indent: str) -> Iterator[str]:
        """The lines of a value. The first is not indented: the caller writes what precedes it."""
        if isinstance(value, dict) and value:
            yield from self.mapping(value, path, indent)
        elif isinstance(value, list | tuple) and value:
            yield from self.sequence(value, path, indent)
        elif isinstance(value, str) and _is_yaml_block(value):
            yield from self.block(value, path, indent)
        else:
            yield yaml_scalar(value) + self.comment(path)

    def mapping(self, value: Mapping[Any, Any], path: Path, indent: str) -> Iterator[str]:
        before = ""
        for key, child in value.items():
            here = (*path, key)
            name = yaml_scalar(str(key), is_key=True)
            # `? key` on one line, `: value` on the next.
            if len(name) > _MAX_YAML_KEY:
                yield f"{before}? {self.paint('place', name)}"
                before, name = indent, ""
            name = self.paint("place", name)
            lines = self.node(child, here, indent + _YAML_INDENT)
            if isinstance(child, dict | list | tuple) and child:
                yield f"{before}{name}:"
                yield f"{indent}{_YAML_INDENT}{next(lines)}"
            else:
                yield f"{before}{name}: {next(lines)}"
            yield from lines
            before = indent

    def sequence(self, value: Any, path: Path, indent: str) -> Iterator[str]:
        before = ""
        for number, child in enumerate(value):
            lines = self.node(child, (*path, number), indent + _YAML_INDENT)
            yield f"{before}- {next(lines)}"
            yield from lines
            before = indent

    def block(self, value: str, path: Path, indent: str) -> Iterator[str]:
        """A literal block; its lines are indented below their key or dash."""
        body = value.rstrip("\n")
        ends = len(value) - len(body)
        # `-` drops the final line feed, `+` keeps all of them; without either there is exactly one.
        chomping = "-" if not ends else "" if ends == 1 else "+"
        # The parser guesses the indentation from the first line unless an indicator names it.
        indicator = "2" if body.startswith((" ", "\n")) else ""
        yield f"|{indicator}{chomping}{self.comment(path)}"
        # At the top there is no key or dash, but the lines of a block are indented all the same.
        inner = indent or _YAML_INDENT
        yield from (f"{inner}{line}" if line else "" for line in body.split("\n"))
        yield from [""] * (ends - 1)

    def comment(self, path: Path) -> str:
        text = self.comments.get(path)
        return f"  {self.paint('help', f'# {visible(text)}')}" if text else ""


def yaml_scalar(value: Any, *, is_key: bool = False) -> str:
    """A scalar, or an empty collection, on one line."""
    if isinstance(value, str):
        return value if _is_plain_yaml(value, is_key=is_key) else quote_yaml(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ".nan"
        return json.dumps(value) if math.isfinite(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, list | tuple) else str(value)


def quote_yaml(text: str) -> str:
    """Text in double quotes, with an escape for everything that could be misread."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_NEEDS_ESCAPE.sub(_yaml_escape, escaped)}"'


def _yaml_escape(match: re.Match[str]) -> str:
    character = match.group()
    number = ord(character)
    if character in _YAML_ESCAPES:
        return _YAML_ESCAPES[character]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _is_plain_yaml(text: str, *, is_key: bool) -> bool:
    """Whether text without quotes is read back as that text."""
    if not _PLAIN_YAML.fullmatch(text) or not _PRINTABLE_YAML.fullmatch(text) or text.endswith(" "):
        return False
    if "##" in text and _BUILD_COMMAND.search(text):
        return False
    from equipage.syntax.yaml.scalars import resolve_plain  # a report needs no reader of YAML

    # `true`, `12` and what a variable becomes may be of other types; a colon ends a key.
    is_text = isinstance(resolve_plain(text), str) and ("${" not in text or isinstance(text, Bare))
    return is_text and not (is_key and ":" in text)


def _is_yaml_block(text: str) -> bool:
    """Whether text is best read as a literal block, and is read back as that text."""
    if "\n" not in text.rstrip("\n") or len(text) > 1_000_000 or _BUILD_COMMAND.search(text):
        return False
    lines = text.split("\n")
    return not any(map(str.isspace, lines)) and all(map(_PRINTABLE_YAML.fullmatch, lines))
