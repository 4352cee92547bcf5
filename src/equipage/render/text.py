"""For people: each finding with the line it is about, the places behind it, and what to do.

```text
error[wrong-type]: expected text, found the number 5
  --> tools/echo.yaml:3:9
   |
 3 |   name: 5
   |         ^
  ::: server.yaml:2:15 included from here
   = help: put quotes around it
```
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any

from equipage.core.diagnostics import Diagnostic, Label
from equipage.core.source import Span
from equipage.core.text import visible
from equipage.render.yaml import dump
from equipage.views.comparing import Change
from equipage.workspace.report import Report

_COLOURS: dict[str, str] = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "place": "1;34",
    "bold": "1",
    "help": "32",
}
#: A line longer than the terminal is cut around the place it is shown for.
#: Characters of a line that are looked at: more than any terminal has columns.
_MOST_SHOWN = 2_000
_MARGIN = 12


class Style:
    """How to write: with colour or without, how wide, and whether tables are cut to that width."""

    def __init__(self, *, colour: bool = False, width: int = 100, cuts: bool = True) -> None:
        self.colour = colour
        self.cuts = cuts
        self.width = max(20, width)

    def paint(self, role: str, text: str) -> str:
        return f"\x1b[{_COLOURS[role]}m{text}\x1b[0m" if self.colour and text else text


def render(
    report: Report, style: Style, *, quiet: bool = False, fixed: int | None = None
) -> Iterator[str]:
    """The report, piece by piece: every finding, then the summary."""
    for each in report.diagnostics:
        if quiet and each.severity != "error":
            continue
        yield finding(each, style) + "\n"
    if fixed is not None:
        yield f"{_plural(fixed, 'finding')} fixed\n"
    yield summary(report, style, quiet=quiet)


def finding(each: Diagnostic, style: Style) -> str:
    """One finding as a block of lines."""
    times = f" (×{each.count})" if each.count > 1 else ""
    head = style.paint(each.severity, f"{each.severity}[{each.code}]") + style.paint(
        "bold", f": {each.message}"
    )
    numbers = [
        span.line
        for span in (each.span, *(label.span for label in each.related))
        if span is not None
    ]
    gutter = len(str(max(numbers, default=1)))
    lines = [head + times, *_frame(each, gutter, style)]
    for label in each.related:
        lines += _related(label, gutter, style)
    margin = " " * (gutter + 2)
    if each.help:
        first, *rest = each.help.split("\n")
        lines.append(f"{margin}{style.paint('place', '=')} {style.paint('help', 'help')}: {first}")
        lines += [f"{margin}        {line}" for line in rest]
    if each.fix is not None:
        kind = "fix" if each.fix.safe else "unsafe fix"
        lines.append(
            f"{margin}{style.paint('place', '=')} {style.paint('help', kind)}: {each.fix.message}"
        )
    return "\n".join(lines) + "\n"


def _frame(each: Diagnostic, gutter: int, style: Style) -> Iterator[str]:
    arrow = style.paint("place", " " * (gutter + 1) + "-->")
    if each.span is None:
        if each.name:
            yield f"{arrow} {visible(each.name)}"
        return
    yield f"{arrow} {visible(each.span.source.name)}:{each.span.line}:{each.span.column}"
    bar = style.paint("place", "|")
    yield f"{' ' * gutter}  {bar}"
    yield from excerpt(each.span, "^", gutter, style, each.severity)


def _related(label: Label, gutter: int, style: Style) -> Iterator[str]:
    if label.span is None:
        yield f"{' ' * gutter}  {style.paint('place', '=')} {label.message}"
        return
    place = f"{visible(label.span.source.name)}:{label.span.line}:{label.span.column}"
    yield f"{style.paint('place', ' ' * (gutter + 1) + ':::')} {place} {label.message}"
    yield from excerpt(label.span, "-", gutter, style, "place")


def excerpt(span: Span, mark: str, gutter: int, style: Style, role: str) -> Iterator[str]:
    """The line a span starts on, and marks below what it covers of it."""
    number, column = span.source.position(span.start)
    line = span.source.line(number)
    end = min(column - 1 + max(1, span.end - span.start), max(len(line), column))
    text, start, length = _window(line, column - 1, end, style.width - gutter - 4)
    bar = style.paint("place", "|")
    yield f"{style.paint('place', str(number).rjust(gutter + 1))} {bar} {text}".rstrip()
    yield f"{' ' * gutter}  {bar} {' ' * start}{style.paint(role, mark * max(1, length))}"


def _window(line: str, start: int, end: int, width: int) -> tuple[str, int, int]:
    """The part of a line that fits, made safe to print, with the marks' offset and length in columns."""
    width = max(16, width)
    end = min(end, start + _MOST_SHOWN)  # a line may be as long as a file
    low = 0
    if end > _MOST_SHOWN or cells(line[:end]) > width:
        low = max(0, min(start - min(_MARGIN, width // 3), len(line) - width))
    before = ("…" if low else "") + _printable(line[low:start])
    marked = _printable(line[start:end])
    text = before + marked + _printable(line[end : low + 4 * width])
    shown = cut(text, width)
    offset = cells(before)
    return shown, offset, max(1, min(cells(marked), width - offset))


def cut(text: str, width: int) -> str:
    """A text, or as much of it as fits with a sign that there is more."""
    used = fits = 0
    for number, each in enumerate(text):
        used += cells(each)
        if used > width:
            return text[:fits] + "…"
        if used < width:
            fits = number + 1
    return text


def _printable(text: str) -> str:
    return visible(text.replace("\t", "    "))


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def summary(report: Report, style: Style, *, quiet: bool = False) -> str:
    """The last line: how much was found in how much."""
    errors, warnings = len(report.errors), 0 if quiet else len(report.warnings)
    notes = 0 if quiet else len(report.notes)
    counts = [(errors, "error"), (warnings, "warning"), (notes, "note")]
    found = ", ".join(style.paint(word, _plural(number, word)) for number, word in counts if number)
    if not found:
        nothing = "no errors" if report.diagnostics else "nothing"
        return f"{_plural(len(report.files), 'file')} checked, {nothing} found\n"
    bad = {each.name for each in report.diagnostics if not quiet or each.severity == "error"} - {
        None
    }
    # What no check can look into, such as a folder that cannot be read, is told but is no file of the report.
    total = bad | {each.path for each in report.files}
    return f"{found} in {len(bad)} of {_plural(len(total), 'file')}\n"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# --- changes -----------------------------------------------------------------------------------
# One change of a value in lines that people read: what it was, what it is.

_INDENT = "      "
#: A value that came or went as a whole is shown to this many lines.
_MOST_LINES = 12


def lines_of(change: Change, style: Style) -> Iterator[str]:
    """The lines below the head of a change, with `-` and `+` before them."""
    if change.how == "reordered":
        yield from _marked("-", [", ".join(map(str, change.before))], style)
        yield from _marked("+", [", ".join(map(str, change.after))], style)
    elif change.how == "added":
        yield from _marked("+", _shown(change.after), style)
    elif change.how == "removed":
        yield from _marked("-", _shown(change.before), style)
    elif (
        isinstance(change.before, str)
        and isinstance(change.after, str)
        and "\n" in change.before + change.after
    ):
        yield from _text(change.before, change.after, style)
    else:
        yield from _marked("-", _shown(change.before), style)
        yield from _marked("+", _shown(change.after), style)


def _shown(value: Any) -> list[str]:
    if isinstance(value, dict | list) and value:
        lines = dump(value).rstrip("\n").split("\n")
    elif isinstance(value, str) and "\n" in value:
        lines = value.rstrip("\n").split("\n")
    else:
        lines = [json.dumps(value, ensure_ascii=False)]
    hidden = len(lines) - _MOST_LINES
    return lines if hidden <= 1 else [*lines[:_MOST_LINES], f"… {hidden} more lines"]


def _text(before: str, after: str, style: Style) -> Iterator[str]:
    """Texts of many lines: the lines that differ, with one line around them."""
    found = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    for line in list(found)[2:]:
        if line.startswith("@@"):
            continue
        yield from _marked(line[0], [line[1:]], style)


def _marked(mark: str, lines: list[str], style: Style) -> Iterator[str]:
    role = {"-": "error", "+": "help"}.get(mark)
    for line in lines:
        text = cut(f"{mark} {visible(line)}", style.width - len(_INDENT))
        yield f"{_INDENT}{style.paint(role, text) if role else text}".rstrip()


# --- table -------------------------------------------------------------------------------------
# Tables for people: columns as wide as they must be and as narrow as the terminal.

_GAP = 2
#: No column is squeezed below this.
_NARROWEST = 6


def table(head: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> str:
    """Rows under a head. Columns that are empty in every row are left out; what is too wide is cut, the widest
    column first."""
    shown = [number for number in range(len(head)) if any(row[number] for row in rows)]
    lines = [[visible(row[number]) for number in shown] for row in (head, *rows)]
    wanted = [max(cells(line[number]) for line in lines) for number in range(len(shown))]
    widths = _fitted(wanted, style.width) if style.cuts else wanted
    first, *rest = (_line(line, widths) for line in lines)
    return "".join(f"{line}\n" for line in (style.paint("bold", first), *rest))


def _fitted(widths: list[int], room: int) -> list[int]:
    widths = list(widths)
    while widths and sum(widths) + _GAP * (len(widths) - 1) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    fields = (cut(field, width) for field, width in zip(line, widths, strict=True))
    padded = (
        field + " " * (width - cells(field)) for field, width in zip(fields, widths, strict=True)
    )
    return (" " * _GAP).join(padded).rstrip()
