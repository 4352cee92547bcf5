"""Fixes, applied to text and proven before anything is written.

`repair` takes the findings of a run and gives back new texts, one per file. A fix is taken only if
the text with it parses to exactly the value that the old text and the fix's own claim lead to: a
renamed key, a replaced scalar, a removed entry, and nothing more. Where variables are replaced
before parsing, the proof uses placeholders, so that it needs no environment.

Nothing here touches the disk.
"""

from __future__ import annotations

import bisect
import difflib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Diagnostic, Edit, Effect, Fix
from equipage.core.path import Path
from equipage.core.source import Source
from equipage.core.text import UNSAFE
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value
from equipage.syntax.variables import substitute

Reason = Literal["overlaps", "unproven", "several-files", "unstable"]

REASONS: dict[Reason, str] = {
    "overlaps": "it overlaps another fix",
    "unproven": "it would change more than it says",
    "several-files": "it changes several files at once",
    "unstable": "the file changed while it was being checked",
}


class Refusal(msgspec.Struct, frozen=True):
    """A fix that was not taken, and why."""

    finding: Diagnostic
    reason: Reason


class Repair(msgspec.Struct, frozen=True):
    """The new text of one source and the findings that are gone with it."""

    source: Source
    text: str
    fixed: tuple[Diagnostic, ...]


def repair(
    diagnostics: Iterable[Diagnostic], *, unsafe: bool = False
) -> tuple[tuple[Repair, ...], tuple[Refusal, ...]]:
    """The new text of each file, in the order of the files, and the fixes that cannot be taken.

    Of fixes that overlap the first in the text is taken; the other is left for the next run. Fixes
    that are not safe are taken only with `unsafe`.
    """
    refused: list[Refusal] = []
    files: dict[str, list[Diagnostic]] = {}
    for each in diagnostics:
        if each.fix is None or not (each.fix.safe or unsafe):
            continue
        sources = {edit.span.source.filename or edit.span.source.name for edit in each.fix.edits}
        if len(sources) == 1:
            files.setdefault(sources.pop(), []).append(each)
        elif sources:
            refused.append(Refusal(each, "several-files"))
    repairs = [_repair_file(found, refused) for _, found in sorted(files.items())]
    return tuple(each for each in repairs if each is not None), tuple(refused)


def diff(each: Repair) -> str:
    """What a repair changes, as a unified diff that `git apply` reads."""
    before, after = (_quote_name(f"{side}/{each.source.name}") for side in "ab")
    lines = difflib.unified_diff(_lines(each.source.text), _lines(each.text), before, after)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


#: What git writes for a character in a quoted name; others are written byte by byte.
_QUOTES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quote_name(name: str) -> str:
    """A name as git writes it in a diff: in quotes if a character in it ends the line or hides."""
    if not UNSAFE.search(name) and not _QUOTES.keys() & set(name):
        return name
    return f'"{"".join(_QUOTES.get(each) or _escape_octal(each) for each in name)}"'


def _escape_octal(letter: str) -> str:
    if not UNSAFE.search(letter):
        return letter
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogateescape"))


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one, as in every diff."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


# --- one file


def _repair_file(found: list[Diagnostic], refused: list[Refusal]) -> Repair | None:
    chosen: dict[_Writes, Fix] = {}
    fixed: dict[_Writes, list[Diagnostic]] = {}
    taken = _TakenRanges()
    source: Source | None = None
    for each, fix in sorted(
        ((each, each.fix) for each in found if each.fix), key=lambda pair: _writes(pair[1])
    ):
        writes = _writes(fix)
        source = source or fix.edits[0].span.source
        if writes in chosen:
            fixed[writes].append(each)
        elif any(edit.span.source.text != source.text for edit in fix.edits):
            refused.append(Refusal(each, "unstable"))
        elif not taken.take(writes):
            refused.append(Refusal(each, "overlaps"))
        else:
            chosen[writes], fixed[writes] = fix, [each]
    if source is None:
        return None
    proven = _keep_provable(source, (), _group_units(chosen.values()))
    kept = dict.fromkeys(map(_writes, proven))
    for writes, findings in fixed.items():
        if writes not in kept:
            refused += (Refusal(each, "unproven") for each in findings)
    if not proven:
        return None
    gone = tuple(each for writes in kept for each in fixed[writes])
    return Repair(source, _text_after(source.text, proven), gone)


#: What a fix writes where: the same for findings of several loads, which name one file by different
#: sources.
_Writes = tuple[tuple[int, int, str], ...]


def _writes(fix: Fix) -> _Writes:
    return tuple(sorted((edit.span.start, edit.span.end, edit.text) for edit in fix.edits))


class _TakenRanges:
    """The stretches of a text that fixes replace, in order; no two of them overlap."""

    def __init__(self) -> None:
        self.stretches: list[tuple[int, int]] = []

    def take(self, writes: _Writes) -> bool:
        """Claim all stretches of a fix, or none if one of them is taken."""
        before = list(self.stretches) if len(writes) > 1 else None
        for start, end, _ in writes:
            number = bisect.bisect_left(self.stretches, (start, end))
            if not self._is_free(number, start, end):
                self.stretches = before if before is not None else self.stretches
                return False
            self.stretches.insert(number, (start, end))
        return True

    def _is_free(self, number: int, start: int, end: int) -> bool:
        """Edits that share a character or start at the same place would depend on their order."""
        if number and (
            self.stretches[number - 1][1] > start or self.stretches[number - 1][0] == start
        ):
            return False
        return number == len(self.stretches) or (
            self.stretches[number][0] >= end and self.stretches[number][0] > start
        )


def _text_after(text: str, fixes: Iterable[Fix]) -> str:
    pieces: list[str] = []
    done = 0
    edits = (edit for fix in fixes for edit in fix.edits)
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        pieces += text[done : edit.span.start], edit.text
        done = edit.span.end
    return "".join((*pieces, text[done:]))


# --- the proof


def _group_units(fixes: Iterable[Fix]) -> tuple[tuple[Fix, ...], ...]:
    """Fixes that are taken together or not at all: a broken text needs all of its corrections."""
    units: dict[object, list[Fix]] = {}
    for fix in fixes:
        effects = (edit.effect for edit in fix.edits if edit.effect is not None)
        windows = (each.window for each in effects if each.kind == "correct")
        units.setdefault(next(windows, id(fix)), []).append(fix)
    return tuple(map(tuple, units.values()))


def _keep_provable(
    source: Source, base: tuple[Fix, ...], units: tuple[tuple[Fix, ...], ...]
) -> tuple[Fix, ...]:
    """`base`, which is proven, and the fixes of as many units as are proven with it.

    Usually all are, in one go; else halves are tried, so that one bad fix costs a few proofs, not
    one for each.
    """
    together = (*base, *(fix for unit in units for fix in unit))
    if not units or _is_proven(source, together):
        return together
    if len(units) == 1:
        return base
    middle = len(units) // 2
    return _keep_provable(source, _keep_provable(source, base, units[:middle]), units[middle:])


def _is_proven(source: Source, fixes: tuple[Fix, ...]) -> bool:
    """Whether the text with `fixes` has the value they claim, in every document they are about."""
    edits = [edit for fix in fixes for edit in fix.edits]
    effects = [edit.effect for edit in edits if edit.effect is not None]
    # An edit that does not say what it does cannot be proven.
    if len(effects) != len(edits):
        return False
    text = _text_after(source.text, fixes)
    windows: dict[tuple[int, int], list[Effect]] = {}
    for each in effects:
        windows.setdefault(each.window, []).append(each)
    return all(_claims_hold(source.text, text, edits, each) for each in windows.values())


def _claims_hold(before: str, after: str, edits: Sequence[Edit], effects: Sequence[Effect]) -> bool:
    """Whether one document of the new text has the value that the `effects` on it claim."""
    reading = effects[-1]
    low, high = reading.window
    if not all(_is_clear_of(edit, low, high) for edit in edits):
        return False
    # Edits before the document move it, edits inside make it longer or shorter.
    shift = sum(_growth(edit) for edit in edits if edit.span.start < low)
    inside = (edit for edit in edits if low <= edit.span.start and edit.span.end <= high)
    growth = sum(map(_growth, inside))
    fix = next((each for each in effects if each.kind == "correct"), None)
    try:
        # A text that did not parse has no value before; the correction says what it should be.
        old = _parse_value(before[low:high], reading) if fix is None else json.loads(str(fix.value))
        new = _parse_value(after[low + shift : high + shift + growth], reading)
        return _canonical(_apply_effects(old, effects)) == _canonical(new)
    except (SyntaxProblem, _Impossible):
        return False


def _is_clear_of(edit: Edit, low: int, high: int) -> bool:
    """Whether an edit stays on one side of a window, or inside if that is what it is about."""
    effect = edit.effect
    if low <= edit.span.start and edit.span.end <= high:
        return True
    if effect is not None and effect.window == (low, high) and effect.kind != "nothing":
        return False
    return edit.span.end <= low or high <= edit.span.start


def _growth(edit: Edit) -> int:
    return len(edit.text) - (edit.span.end - edit.span.start)


class _Placeholders(dict[str, str]):
    """An environment in which every variable has the same harmless value."""

    def get(self, _name: object, _default: object = None) -> str:
        return "variable"


def _parse_value(text: str, reading: Effect) -> Any:
    if reading.substituted:
        text = substitute(text, _Placeholders()).text
    if reading.syntax == "text":
        return text
    return load_value(reading.syntax, text, merge=reading.merge)


def _canonical(value: Any) -> str:
    """A form in which only equal values are equal: `1`, `1.0`, `"1"` and `true` are four."""
    return json.dumps(value, sort_keys=True)


class _Impossible(Exception):
    """A claim does not fit the value: there is no such entry, or the new key is taken."""


def _apply_effects(value: Any, effects: Sequence[Effect]) -> Any:
    """The value after the effects, made in one walk."""
    changing = (each for each in effects if each.kind not in ("nothing", "correct"))
    return _apply_effects_below(value, [(each.path, each) for each in changing])


def _apply_effects_below(value: Any, effects: list[tuple[Path, Effect]]) -> Any:
    if not effects:
        return value
    # Nothing else can be claimed about a value that is replaced as a whole.
    if any(not path for path, _ in effects):
        if len(effects) > 1 or effects[0][1].kind != "replace":
            raise _Impossible
        return effects[0][1].value
    groups: dict[str | int, list[tuple[Path, Effect]]] = {}
    for path, effect in effects:
        groups.setdefault(path[0], []).append((path, effect))
    if isinstance(value, list):
        steps = [
            (number, _entry_after(number, child, groups.pop(number, [])))
            for number, child in enumerate(value)
        ]
        result: Any = [entry[1] for _, entry in steps if entry is not None]
        renamed = any(entry is not None and entry[0] != number for number, entry in steps)
    elif isinstance(value, dict):
        entries = [_entry_after(key, child, groups.pop(key, [])) for key, child in value.items()]
        kept = [entry for entry in entries if entry is not None]
        result = dict(kept)
        renamed = len(result) != len(kept)
    else:
        raise _Impossible
    if groups or renamed:  # there is no such entry; an item has no name; the new name is taken
        raise _Impossible
    return result


def _entry_after(
    step: str | int, child: Any, effects: list[tuple[Path, Effect]]
) -> tuple[str | int | float | bool | None, Any] | None:
    """An entry after its own effects and those below it; None if it is removed."""
    # A new value is looked at one step further down, where the path to it is empty.
    own = [effect for path, effect in effects if len(path) == 1 and effect.kind != "replace"]
    below = [
        (path[1:], effect) for path, effect in effects if len(path) > 1 or effect.kind == "replace"
    ]
    if any(effect.kind == "remove" for effect in own):
        return None
    return (own[0].value if own else step), _apply_effects_below(child, below)
