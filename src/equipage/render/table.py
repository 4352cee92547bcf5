"""Tables for people: columns as wide as they must be and as narrow as the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from equipage.render.text import Style, cells, cut
from equipage.visible import visible

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
    padded = (field + " " * (width - cells(field)) for field, width in zip(fields, widths, strict=True))
    return (" " * _GAP).join(padded).rstrip()
