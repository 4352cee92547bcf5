"""Misspellings of fields that restrict, as parts of a JSON Schema.

Most tools ignore keys that they do not know, so their schemas allow any. But a key that nearly
spells a field which restricts an agent is an error to the loader: the agent would run without the
restriction. A schema cannot measure how far two names are apart. It can refuse every name that is
one slip away from a field, however its words are joined, and it does so while the field itself is
not there. The loader refuses more: what is two slips away, and a misspelling beside the field.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from equipage.core.text import alike, distance, folded
from equipage.loading.schema import Schema

#: What a finger may hit.
_LETTERS = "-_0123456789abcdefghijklmnopqrstuvwxyz"
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
#: Between two words of a name.
_JOIN = "[-_ ]"


def refusals(
    guarded: Iterable[str],
    others: Collection[str],
    synonyms: Mapping[str, str],
    foreign: Collection[str],
) -> list[Schema]:
    """The parts of a schema that refuse misspellings of the fields `guarded`.

    `others` are the names that another key may have been meant as, and `synonyms` what people write
    instead of a field. `foreign` are folded names that the loader takes for fields of another tool.
    """
    parts: list[Schema] = []
    known = {folded(each) for each in others}
    for field in sorted(guarded):
        if folded(field) in known:
            continue  # written otherwise, it is another field
        names = (field, *(other for other, own in synonyms.items() if own == field))
        # The loader knows the field itself, however its words are joined.
        strange = {*foreign} - {folded(field)}
        slips = [_Slips(name, others, strange) for name in names]
        patterns = [each for one in slips for each in (one.otherwise_joined(), one.pattern())]
        patterns = [*filter(None, patterns), *(re.escape(name) for name in names[1:])]
        pattern = f"^(?:{'|'.join(dict.fromkeys(patterns))})$"
        refused = {"patternProperties": {pattern: False}}
        parts.append({"if": {"not": {"required": [field]}}, "then": refused})
    return parts


class _Slips:
    """The names one slip away from a name: a letter too many, too few, wrong, or two swapped."""

    def __init__(self, name: str, others: Iterable[str], foreign: Collection[str]) -> None:
        self.letters: list[str] = []
        self.capitals: set[int] = set()  #: letters that are written either way
        for word in _WORDS.findall(name):
            self.letters += [_JOIN] if self.letters else []
            start = len(self.letters)
            self.capitals |= {
                start + at for at, each in enumerate(word) if each.isupper() or not at
            }
            self.letters += word.lower()
        self.plain = folded(name)
        joins = self.letters.count(_JOIN)
        # A join that lacks is a slip of its own, and the loader forgives one in three letters.
        self.join_may_lack = joins == 1 and len(self.letters) > 7
        self.is_camel = not re.search(r"[-_ ]", name)
        # Names so close that a slip may be as near to them. The others never win.
        self.close = _near(self.plain, map(folded, others), 4 if self.join_may_lack else 2)
        self.foreign = _near(self.plain, foreign, 2)
        self.foreign |= {self.plain} & {*foreign}
        self.telling = set("".join((self.plain, *self.close, *self.foreign)))

    def otherwise_joined(self) -> str:
        """The name itself with other joins; empty if that may be another name."""
        name = self._text(0, len(self.letters))
        lacking = name.replace("_", "")
        if len(lacking) < 3 * name.count("_") or not (
            self._is_ours(name) and self._is_ours(lacking)
        ):
            return ""
        either = (f"[{each}{each.upper()}]" if each.isalpha() else each for each in self.letters)
        return "".join(
            f"{_JOIN}?" if each == _JOIN else made if at in self.capitals else each
            for at, (each, made) in enumerate(zip(self.letters, either, strict=True))
        )

    def pattern(self) -> str:
        """All of them as one expression, nested so that it stays short."""
        size = len(self.letters)
        made = self._class(size, size)
        for at in reversed(range(size)):
            ways = [*self._ways(at), *([] if made is None else [self._written(at, at + 1) + made])]
            made = f"(?:{'|'.join(ways)})" if len(ways) > 1 else ways[0] if ways else None
        return made or ""

    def _ways(self, at: int) -> Iterator[str]:
        """What follows a right beginning if the slip is at a letter."""
        size, letter = len(self.letters), self.letters[at]
        if added := self._class(at, at):
            yield added + self._written(at, size)
        if letter == _JOIN:
            # Without it, the word after it has no capital, or a letter took its place.
            if not self.join_may_lack and self._is_ours(
                self._text(0, at) + self._text(at + 1, size)
            ):
                yield self.letters[at + 1] + self._written(at + 2, size)
            if not (self.join_may_lack or self.is_camel) and (put := self._class(at, at + 1)):
                yield put + self._written(at + 1, size)
            return
        rest = self._written(at + 1, size)
        if replaced := self._class(at, at + 1):
            yield replaced + rest
        if self._is_ours(self._text(0, at) + self._text(at + 1, size)):
            yield rest
        after = at + 1
        if at in self.capitals and self._is_ours(self._text(0, after) + self._text(at, size)):
            yield letter.upper() + self._written(at, size)
        if after < size and self.letters[after] == _JOIN:
            after += 1  # the last letter of a word and the first of the next
        if after < size and self.letters[after] not in (_JOIN, letter):
            swapped = self._text(0, at) + self.letters[after] + letter
            if self._is_ours(swapped + self._text(after + 1, size)):
                yield (
                    self._written(after, after + 1)
                    + self._any_case(at)
                    + self._written(after + 1, size)
                )

    def _class(self, start: int, end: int) -> str | None:
        """Any letter in place of a part, but those with which it is another name."""
        before, after = self._text(0, start), self._text(end, len(self.letters))
        but = self.letters[start] if start < end else ""
        usual = next(each for each in "qxzjkw0" if each not in self.telling and each != but)
        if not self._is_ours(before + usual + after):
            return None
        letters = [
            each
            for each in _LETTERS
            if each != but and (each not in self.telling or self._is_ours(before + each + after))
        ]
        if _JOIN in self.letters[max(start - 1, 0) : end + 1]:
            letters = letters[2:] if letters[0] == "-" else letters  # it would be a join itself
        return _class_of(letters)

    def _is_ours(self, key: str) -> bool:
        """Whether a key is nearer to this name than to any other, with and without its joins."""
        if not self.close and not self.foreign:
            return True
        for each in (key, key.replace("_", "")) if self.join_may_lack else (key,):
            own = distance(each, self.plain)
            if each in self.foreign or any(distance(each, one) <= own for one in self.close):
                return False
        return True

    def _written(self, start: int, end: int) -> str:
        """The letters of a part as an expression."""
        return "".join(map(self._any_case, range(start, end)))

    def _any_case(self, at: int) -> str:
        """A letter as an expression; the first of a word may be a capital."""
        letter = self.letters[at]
        if letter == _JOIN:
            return f"{_JOIN}?" if self.join_may_lack else "" if self.is_camel else _JOIN
        if at not in self.capitals or not letter.isalpha():
            return letter
        # Where only a capital divides two words, it has to be one.
        divides = at and self.letters[at - 1] == _JOIN and self.is_camel and not self.join_may_lack
        return letter.upper() if divides else f"[{letter}{letter.upper()}]"

    def _text(self, start: int, end: int) -> str:
        """The letters of a part in one spelling."""
        return "".join("_" if each == _JOIN else each for each in self.letters[start:end])


def _near(name: str, others: Iterable[str], most: int) -> set[str]:
    """The other names that so many slips lead to."""
    found = alike(name, {*others} - {name}, most)
    return {each for each in found if distance(each, name) <= most}


def _class_of(letters: list[str]) -> str:
    """Letters as a class of an expression, with ranges."""
    made, start = "-" if "-" in letters else "", 0
    row = [each for each in letters if each != "-"]
    while start < len(row):
        end = start
        while end + 1 < len(row) and ord(row[end + 1]) == ord(row[end]) + 1:
            end += 1
        made += row[start] if end == start else f"{row[start]}-{row[end]}"
        start = end + 1
    return f"[{made}]"
