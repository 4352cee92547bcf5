"""How strictly a format reads its model, and what a key that no field has was meant to be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import (
    MAX_FACTS_PER_CODE,
    Change,
    Code,
    Fact,
    Remedy,
    Severity,
    Shown,
)
from equipage.core.path import Path, format_path
from equipage.core.text import Guesses, edit_distance, is_likely_typo, normalise_spelling
from equipage.loading.type_words import title

#: Keys that are close to fields of some kinds and mean something of their own, as
#: `normalise_spelling` writes them: parameters of models, which clients pass on, notes of authors.
COMMON_FOREIGN_KEYS = frozenset(
    {
        *("top_k", "topk", "topp", "min_p", "seed", "stop", "n"),
        *("logprobs", "max_tokens", "maxtokens"),
        *("tag", "tags", "note", "notes", "role", "date", "type", "types", "kind", "title"),
        *("author", "authors", "mode", "modes", "node", "names", "path", "status", "license"),
    }
)


class Shape(msgspec.Struct, frozen=True):
    """How strictly a kind reads its model."""

    unknown: Severity | None = "error"
    """The severity of an unknown key; None keeps it silent."""
    null_is_absent: bool = False
    """`null` counts as absent for optional fields, as `[]` for lists and `{}` for mappings."""
    closed: tuple[type, ...] = ()
    """Classes whose unknown keys are errors although the kind's are not."""
    exempt: tuple[str, ...] = ()
    """Unknown keys with this prefix are allowed everywhere, but in a closed class."""
    mismatch: Severity = "error"
    """The severity of a value that does not fit a field; unless it is an error, the value is left
    out, but for a field of the root that has no default: that must fit."""
    worst: Severity = "error"
    """The worst that a finding may be, for kinds whose readers were never seen to refuse
    anything."""
    guarded: frozenset[str] = frozenset()
    """Fields of the root that restrict. A key that nearly spells one, or a value that does not fit
    one, would let everything through; both are errors, whatever else is forgiven."""
    needed: frozenset[str] = frozenset()
    """Fields of the root that the file is useless without: a value that does not fit is an
    error."""
    synonyms: Mapping[str, str] = {}
    """What people write for a field of the root that has another name."""
    elsewhere: Mapping[str, str] = {}
    """Unknown keys of the root that mean something elsewhere, by
    `text.normalise_spelling` → where: they were meant to act."""
    levels: Mapping[str, tuple[str, bool]] = {}
    """Fields that the file has at one level alone, by `text.normalise_spelling` → the path of that
    level, and whether they restrict there."""
    lost: frozenset[str] = frozenset()
    """The keys of `elsewhere` that restrict there: an error, unless the file restricts as well."""
    instead: str = ""
    """What restricts here, for people who wrote one of them."""
    unlisted: frozenset[str] = frozenset()
    """Keys that no field describes, and that a version of the program reads all the same."""
    program: str = ""
    """Whose fields these are, with the version that they were taken from: “Codex 1.0 is not”."""
    describing: frozenset[str] = frozenset()
    """Fields that only describe: a key that resembles one without a slip is the author's own."""
    ignores: bool = False
    """Whether unknown keys that resemble nothing are only ignored, with one note for all of
    them in a file."""
    sets: bool = False
    """Whether the file is there for its fields alone, so that one without any is an error."""
    own_codes: Mapping[str, Code] = {}
    """Unknown keys that have a code of their own."""
    secret: tuple[Path, ...] = ()
    """Mappings whose values may be secrets: only their type is shown."""


class Level(msgspec.Struct, frozen=True):
    """A mapping of a value, beside the class that it is read as."""

    value: dict[str, Any]
    cls: type
    known: Collection[str]
    path: Path


class UnknownKeys:
    """Finds out about keys that no field has, for all levels of one value."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.guesses = Guesses()
        self.unread: list[Path] = []  #: keys that nothing is known to read

    def facts(self, names: Collection[str], level: Level) -> Iterator[Fact]:
        """The findings about unknown keys of a level; what is only ignored is kept for the end."""
        severity, guarded = self._severity(level.cls), self._guarded_fields(level)
        exempt = () if level.cls in self.shape.closed else self.shape.exempt
        made, rest = 0, list[str]()
        for name in names:
            is_full = made >= MAX_FACTS_PER_CODE
            if is_full and severity is not None and not guarded:
                rest.append(name)  # they are only counted, whatever was meant by them
                continue
            if name.startswith(exempt) or name in self.shape.unlisted:
                continue
            guess, where = self._meaning(name, level)
            fact = self._report_beside(name, guess, where, level)
            if fact is not None:
                yield fact
                continue
            is_grave = guess in guarded or self._is_lost(name, guess, level)
            fact = self._report_unknown(name, guess, where, level, is_grave=is_grave)
            if fact is not None and is_full and not is_grave:
                rest.append(name)
            elif fact is not None:
                yield fact
                made += 1
        if rest:
            counted = codes.UNKNOWN_FIELD.at((*level.path, rest[0]), part="nowhere")
            more = {"severity": severity or "warning", "more": len(rest)}
            yield msgspec.structs.replace(counted, **more)

    def report_ignored(self, value: Any, *, alone: bool) -> Iterator[Fact]:
        """One finding for all keys that nothing is known to read: an error if that is the file.

        `alone` says that nothing else was found.
        """
        if self.unread:
            keys = {path[0] for path in self.unread if len(path) == 1}
            is_whole = self.shape.sets and alone and keys >= value.keys() - {"$schema"}
            yield codes.IGNORED_FIELD.at(
                self.unread[0],
                part="key",
                severity="error" if is_whole else "note",
                program=self.shape.program,
                any="any key of this file: " if is_whole else "",
                fields=Shown(tuple(map(format_path, self.unread))),
            )

    def _report_unknown(
        self, name: str, guess: str | None, where: str | None, level: Level, *, is_grave: bool
    ) -> Fact | None:
        """That no field has the name of a key; None if it is silent, or kept as ignored."""
        shape, severity = self.shape, self._severity(level.cls)
        # A key one slip away from a field is never silent, even where other keys are allowed
        # or the field is there as well.
        slip = self._misspelled_field(name, guess, level) if where is None else None
        if severity is None and slip is None and not is_grave:
            return None
        acts = getattr(level.cls, "UNKNOWN", None) == "acts"
        if not (guess or where or slip or acts) and shape.ignores and severity != "error":
            if level.path or name not in shape.describing:
                self.unread.append((*level.path, name))
            return None
        # Where the field is there as well, a rename would make a second one of it.
        is_guarded = guess in self._guarded_fields(level)
        safe = None if guess is None else not (shape.ignores or is_guarded)
        fact = self._fact((*level.path, name), guess or slip, where, level.cls, safe=safe)
        if self._is_lost(name, guess, level):
            fact.values["instead"] = shape.instead
        worst = "error" if is_grave else severity or "warning"
        return msgspec.structs.replace(fact, severity=worst)

    def _report_beside(
        self, name: str, guess: str | None, where: str | None, level: Level
    ) -> Fact | None:
        """That a key belongs to another level, or nearly has the name of a field beside it."""
        misplaced = self._report_misplaced(name, guess, level)
        if misplaced is not None or guess is not None or where is not None:
            return misplaced
        return self._report_twin(name, level)

    def _report_misplaced(self, name: str, guess: str | None, level: Level) -> Fact | None:
        """That a key has its meaning at another level of the file alone."""
        here = format_path(level.path)
        there, restricts = self.shape.levels.get(normalise_spelling(name), (here, False))
        is_silent = self._severity(level.cls) is None
        if there == here or is_silent or self._is_meant(name, guess, level):
            return None
        where = f"under `{there}`" if there else "at the top of the file"
        severity: Severity = "error" if restricts else "warning"
        return codes.MISPLACED_FIELD.at(
            (*level.path, name), part="key", severity=severity, field=Shown(name), where=where
        )

    def _report_twin(self, name: str, level: Level) -> Fact | None:
        """That a key nearly has the name of a field beside it that restricts, but does not."""
        written = [each for each in self._guarded_fields(level) if each in level.value]
        twin = self.guesses.nearest(name, written)
        if twin is None:
            return None
        fact = self._fact((*level.path, name), twin, None, level.cls, safe=None)
        return msgspec.structs.replace(fact, severity="error")

    def _is_lost(self, name: str, guess: str | None, level: Level) -> bool:
        """Whether a key restricts elsewhere, and nothing restricts here."""
        is_free = (
            not guess and not level.path and self._guarded_fields(level).isdisjoint(level.value)
        )
        return is_free and normalise_spelling(name) in self.shape.lost

    def _guarded_fields(self, level: Level) -> frozenset[str]:
        if not level.path:
            return self.shape.guarded
        return getattr(level.cls, "GUARDED", frozenset())

    def _severity(self, cls: type) -> Severity | None:
        """How bad an unknown key of a Struct is; None if it is silent."""
        if cls in self.shape.closed:
            return "error"
        own: Severity | Literal["ignore", "acts"] | None = getattr(cls, "UNKNOWN", None)
        if own == "acts":  # whatever the key is, it was meant to do something
            return "warning"
        return None if own == "ignore" else own or self.shape.unknown

    def _meaning(self, name: str, level: Level) -> tuple[str | None, str | None]:
        """The field that a key was probably meant to be, and what else reads a key of its name."""
        shape = self.shape
        where = None if level.path else shape.elsewhere.get(normalise_spelling(name))
        guess = self._guess_field(name, level)
        is_meant = name in shape.synonyms or normalise_spelling(name) == normalise_spelling(
            guess or ""
        )
        if where is not None and not is_meant:
            guess = None  # `mode` does not misspell `model` if another tool has `mode`
        if guess in shape.describing and not (is_meant or is_likely_typo(name, guess)):
            guess = None  # `compatible-with` is a field of a shop, and `compatibility` is text
        return guess, where

    def _synonyms(self, level: Level) -> Mapping[str, str]:
        """What people write for the fields of a class. A Struct may bring `SYNONYMS` of its own."""
        return getattr(level.cls, "SYNONYMS", {}) if level.path else self.shape.synonyms

    def _is_meant(self, name: str, guess: str | None, level: Level) -> bool:
        """Whether a key has so nearly the name of a field beside it that no other was meant."""
        if guess is None or name in self._synonyms(level):
            return guess is not None
        return edit_distance(normalise_spelling(name), normalise_spelling(guess)) < 2

    def _misspelled_field(self, name: str, guess: str | None, level: Level) -> str | None:
        """The field that a key almost certainly misspells; None if there is none."""
        if normalise_spelling(name) in COMMON_FOREIGN_KEYS:
            return None
        if guess is not None:
            return guess if is_likely_typo(name, guess) else None
        written = (each for each in level.known if each in level.value)
        return next((each for each in written if is_likely_typo(name, each)), None)

    def _fact(
        self, place: Path, guess: str | None, where: str | None, cls: type, *, safe: bool | None
    ) -> Fact:
        """A finding about a key; `safe` says how safe a rename is, None that there is none."""
        name = str(place[-1])
        if name in self.shape.own_codes:
            return self.shape.own_codes[name].at(place, part="key")
        remedy = None
        if guess is not None and safe is not None:
            # A rename is a guess about what was meant. In files of other tools it may change what
            # an agent does, so a person must agree; so it does where the field restricts.
            remedy = Remedy(f"rename to `{guess}`", (Change(place, guess, "key"),), safe=safe)
        values: dict[str, Any] = {"field": Shown(name), "owner": title(cls), "nearest": guess}
        if guess is None and where is not None:
            return codes.FOREIGN_FIELD.at(place, part="key", **values, where=where, instead="")
        return codes.UNKNOWN_FIELD.at(place, part="key", remedy=remedy, **values)

    def _guess_field(self, name: str, level: Level) -> str | None:
        """The field a key was probably meant to be."""
        free = [each for each in level.known if each not in level.value]
        named = self._synonyms(level)
        synonyms = {other: field for other, field in named.items() if field in free}
        if name in synonyms:
            return synonyms[name]
        guess = self.guesses.nearest(name, [*free, *synonyms])
        return synonyms.get(guess, guess) if guess is not None else None
