"""What earlier checks found, kept below the root of a project and used while it holds.

A piece of work is the walk that finds files, the check of a few of them, or that of files which
concern each other. With what it found, everything is kept that it asked the system, each question
with its answer, and a digest of each variable that it looked up. It holds as long as asking again
gives the same answers, see `files.tracing`. Most answers are vouched for by signatures of files and
folders, see `files.vouching`: as long as these are the same, the questions are not even read.

If every piece of a run holds, and so does what was asked between them, then the report is the one
that is kept. What all pieces rest on is kept together (`Ground`), so that one look at each path
says so, and which pieces are in doubt. If only the checks of a few files do not hold, the report is
amended, see `amending`. Otherwise it is made anew from the pieces that hold and from the others,
which are worked out again.

Files of kinds that other packages bring are always checked: their code may ask anything.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from equipage.core.diagnostics import Diagnostic
from equipage.files import keeping
from equipage.files.keeping import Kept, installed, open_kept
from equipage.files.replaying import Replay, essential
from equipage.files.tracing import Answer, Question, Trace, digest, plain, traced
from equipage.files.vouching import Era, Row, Vouching, process_identity, this_era
from equipage.loading.kind import Offer
from equipage.loading.registry import is_built_in
from equipage.loading.session import Request
from equipage.workspace.loads import Candidate, Checked, Checker, Walked
from equipage.workspace.packing import (
    Changed,
    Digests,
    Packed,
    PackedFiles,
    Packer,
    Unfit,
    Unpacker,
)
from equipage.workspace.pieces import (
    Ground,
    Piece,
    Variables,
    grounded,
    grounded_again,
    packed,
    unpacked,
)
from equipage.workspace.report import Report

if TYPE_CHECKING:
    from equipage.workspace.amending import Judged
    from equipage.workspace.parallel import Checks

T = TypeVar("T")

#: About so many files are one piece of work, and at most so many.
_PIECE, _MOST = 3, 9
#: Variables whose values are places, which the questions name.
_PLACES = frozenset({"HOME", "PATH", "XDG_CONFIG_HOME"})
#: Values of variables that are shorter are in any text.
_SHORT = 3
#: How the keys of pieces begin, and the key of what a book has once.
_WALK, _FILES, _TOGETHER, _WHOLE = "walk", "files", "together", "whole"
#: If more pieces of files do not hold, the report is not amended: several processes are faster.
_AMENDED = 8

Results = Callable[[Sequence[Sequence[Candidate]], "Checks"], Iterator[Any]]


class _Book(msgspec.Struct, array_like=True):
    """A file of the cache. Its pieces are packed: most runs read few of them."""

    era: Era | None = None
    about: str = ""  #: what the run was about that the whole report belongs to
    ground: Ground | None = None
    pieces: dict[str, bytes] = {}


class Traced(msgspec.Struct, frozen=True):
    """What is kept of a file; with the first of several, all that was asked for them."""

    checked: Checked | None
    trace: Trace | None = None


class TracedChecker(Checker):
    """Checks files like a `Checker`, and notes what that asks. Pieces share nothing."""

    def check(self, candidates: Iterable[Candidate]) -> list[Any]:
        with traced(Trace()) as trace:
            env = trace.watched(self.request.env)
            request = msgspec.structs.replace(self.request, env=env)
            found = Checker(request, self.kind, digests=self.digests).check(candidates)
        return [Traced(each, None if number else trace) for number, each in enumerate(found)]


class Cache:
    """What is known from earlier runs that were asked for in this way.

    `about` is what else the report depends on: where the run begins, and what it selects. `began`
    is when it began, see `_since`. With `texts`, findings have the texts of their files; otherwise
    only their places.
    """

    def __init__(
        self,
        kept: Kept,
        root: str,
        request: Request,
        kind: str | None,
        *,
        about: str,
        began: int,
        digests: bool,
        texts: bool,
    ) -> None:
        self._kept = kept
        self._request = request
        self._kind = kind
        self._digests = digests
        self._about = about
        self._vouching = Vouching(root, _since(kept, began))
        self._name = kept.name_of(_described(request, kind, digests=digests))
        self._book = _decoded(kept.read(self._name))
        self._era = this_era()
        self._is_era = self._book.era is not None and self._book.era.goes_on_in(self._era)
        self._replay = Replay(request.env)
        self._answers: dict[Question, Answer] = {}
        self._known = Digests()
        self._unpacker = Unpacker(self._replay.text_of if texts else None, self._known)
        self._offers: str | None = None
        #: the pieces of this run that hold, as they were or with newer signatures
        self._holding: dict[str, Piece | None] = {}
        self._used: dict[str, bytes] = {}
        self._doubtful: frozenset[str] | None = None  #: the keys of all others hold
        self._fresh: dict[str, list[Any]] = {}  #: results that are known by their keys
        self._renewed: dict[str, Piece] = {}
        self._new: dict[str, Piece] = {}
        self._size = 0  #: of these, in bytes
        self._is_whole = True  #: whether all that this run found can be kept

    def close(self) -> None:
        """Close the folder it is kept in: nothing can be asked or saved any more."""
        self._kept.close()

    # The whole report.

    def report(self) -> Report | None:
        """What the last run came to, if all of it still holds."""
        if self._failing() != []:
            return None
        found = self._recall(_WHOLE, self._unpacker.report)
        if found is not None:
            self._used.update(self._book.pieces)
        return found

    def amended(
        self, judge: Callable[[Iterable[Checked]], Judged | None], asked: Trace
    ) -> Report | None:
        """What the last run came to, with what changed since in single files.

        `judge` says what their projects make of them, and `asked` is what that asked. None if more
        changed than that.
        """
        failing = self._failing()
        if not failing or len(failing) > _AMENDED or not all(map(_is_of_files, failing)):
            return None
        whole = self._holds(_WHOLE)
        known = None if whole is None else _read(whole.found, Packed)
        if whole is None or known is None or known.whole is None:
            return None
        from equipage.workspace.amending import amended, is_apart

        changed: list[Checked] = []
        for key in failing:
            for before, after, checked in self._checked_again(key):
                if before != after:
                    if checked is None or not is_apart(before, after, known.whole):
                        return None
                    changed.append(checked)
            if key not in self._new:
                return None
        judged = judge(changed)
        if judged is None or not asked.complete:
            return None
        read = (each for key in failing for each in self._fresh[key][0].trace.answers.items())
        packer = Packer((*asked.answers.items(), *read), self._known)
        try:
            new = packer.amended(known, lambda old, pack: amended(old, known.sources, judged, pack))
            if new is None:
                return None
            report = self._unpacker.report(new)
        except (Unfit, Changed):
            return None
        if not self._keep_amended(whole, new, asked):
            return None
        self._used.update(self._book.pieces)
        return report

    def _checked_again(
        self, key: str
    ) -> Iterator[tuple[Packed | None, Packed | None, Checked | None]]:
        """Each file of a piece that does not hold, as it was and as it is."""
        piece = _read(self._book.pieces[key], Piece)
        before = None if piece is None else _read(piece.found, PackedFiles)
        if before is None:
            return
        checker = TracedChecker(self._request, self._kind, digests=self._digests)
        found = self._fresh[key] = checker.check(before.candidates)
        self._keep_files(key, before.candidates, found)
        after = _read(self._new[key].found, PackedFiles) if key in self._new else None
        if after is not None:
            checked = (each.checked for each in found)
            yield from zip(before.found, after.found, checked, strict=True)

    def _keep_amended(self, piece: Piece, found: Packed, asked: Trace) -> bool:
        """Keep a report that rests on what it did before, and on what was asked now."""
        # Of every variable that it depends on, the value may have become a part of a finding.
        asked.variables |= {name: self._request.env.get(name) for name, _ in piece.variables}
        more, sure = self._piece(asked, found), unpacked(piece.sure)
        if more is None or sure is None:
            return False
        rows, known = dict(piece.rest), dict(sure)
        rows |= {each: answer for each, answer in essential(asked.answers) if each not in known}
        self._new[_WHOLE] = msgspec.structs.replace(
            more, vouched=piece.vouched, sure=piece.sure, rest=(*rows.items(),)
        )
        return True

    def keep_whole(
        self,
        report: Report | None,
        ties: frozenset[str] | None,
        asked: Trace,
        walked: Walked | None,
        walk: Trace | None,
    ) -> None:
        """Keep the walk of a run and its report, with what was asked for each.

        There is no `walk` if its result was known, and nothing that `walked` can tell if a finding
        is part of it. No report: it cannot be kept. `ties` as in `ReportBuilder.ties`.
        """
        if walk is not None and walked is not None:
            self._keep(_key(_WALK, self._about), walk, lambda _: walked)
        elif walk is not None:
            self._is_whole = False
        if report is None or not self._is_whole:
            return
        # Settings, which may have findings, are read during the walk.
        read = () if walk is None else walk.answers.items()
        self._keep(_WHOLE, asked, lambda to: to.report(report, ties), read)

    # The walk.

    def walk(self) -> Walked | None:
        """What the walk of an earlier run with the same paths came to, if it holds."""
        return self._recall(_key(_WALK, self._about), lambda found: found, Walked)

    # Files, a few at a time.

    def checked(self, candidates: Sequence[Candidate], run: Results) -> Iterator[Any]:
        """What is kept of each candidate, in order; `run` checks those that have to be."""
        pieces = list(_divided(candidates))
        keys = [_key(_FILES, *map(_written, piece)) for piece in pieces]
        known = [self._recall(key, self._unpacker.files, PackedFiles) for key in keys]
        checker = TracedChecker(self._request, self._kind, digests=self._digests)
        todo = [
            piece
            for key, piece, found in zip(keys, pieces, known, strict=True)
            if found is None and key not in self._fresh
        ]
        results = run(todo, checker)
        for key, piece, recalled in zip(keys, pieces, known, strict=True):
            if recalled is not None:
                yield from recalled
                continue
            found = []
            fresh = iter(self._fresh[key]) if key in self._fresh else results
            for _ in piece:
                each = next(fresh, None)
                if each is None:
                    return  # the time of the run is up
                found.append(each)
                yield each.checked if isinstance(each, Traced) else each
            self._keep_files(key, piece, found)

    def _keep_files(self, key: str, piece: Sequence[Candidate], found: Sequence[Any]) -> None:
        trace = found[0].trace if isinstance(found[0], Traced) else None
        results = [each.checked for each in found if isinstance(each, Traced)]
        # A file whose check ended its process has a result of its own, and no trace.
        if trace is None or len(results) < len(piece) or not all(map(_is_ours, results)):
            self._is_whole = False
        else:
            self._keep(key, trace, lambda to: to.files(piece, results))

    # Files that concern each other.

    def together(
        self,
        files: Sequence[Checked],
        offers: Sequence[Offer],
        find: Callable[[Request], list[tuple[int, Diagnostic]]],
    ) -> list[tuple[int, Diagnostic]]:
        """What `find` finds about these files together, each by the number of its file.

        `offers` are what all files of the run offer.
        """
        if self._offers is None:
            self._offers = _key("offers", *map(repr, offers))
        key = _key(_TOGETHER, self._offers, *(f"{each.kind} {each.path}" for each in files))
        recalled = self._recall(key, self._unpacker.together)
        if recalled is not None:
            return recalled
        with traced(Trace()) as trace:
            env = trace.watched(self._request.env)
            found = find(msgspec.structs.replace(self._request, env=env))
        if all(map(_is_ours, files)):
            self._keep(key, trace, lambda to: to.together(found))
        else:
            self._is_whole = False
        return found

    # What is known, and whether it still holds.

    def _recall(self, key: str, unpack: Callable[[Any], T], form: type[Any] = Packed) -> T | None:
        """What a piece found, if it holds."""
        piece = self._holds(key)
        written = None if piece is None else _read(piece.found, form)
        if written is None:
            return None
        try:
            found = unpack(written)
        except Changed:
            return None
        self._used[key] = self._book.pieces[key]
        return found

    def _failing(self) -> list[str] | None:
        """The pieces that do not hold; None if the book is not about this run."""
        if self._book.about != self._about or _WHOLE not in self._book.pieces:
            return None
        if self._doubtful is None:
            with traced(Trace()):
                self._doubtful = self._in_doubt()
        return [key for key in self._doubtful if self._holds(key) is None]

    def _in_doubt(self) -> frozenset[str]:
        """The pieces that may not hold, by what all of them rest on."""
        ground, pieces = self._book.ground, [*self._book.pieces]
        if ground is None or not self._is_era or not self._is_so(ground.variables, ground.rest):
            return frozenset(pieces)
        changed = self._replay.changed(ground.vouched)
        return (
            frozenset(pieces[each] for each in ground.owning(changed)) if changed else frozenset()
        )

    def _holds(self, key: str) -> Piece | None:
        """A piece, if everything is still as it was."""
        if key not in self._holding:
            written = self._book.pieces.get(key)
            piece = None if written is None else _read(written, Piece)
            if piece is not None and (self._doubtful is None or key in self._doubtful):
                # What is asked now is asked for the piece, and not by the run.
                with traced(Trace()):
                    piece = piece if self._is_as_it_was(key, piece) else None
            self._holding[key] = piece
        return self._holding[key]

    def _is_as_it_was(self, key: str, piece: Piece) -> bool:
        if not self._is_so(piece.variables, piece.rest):
            return False
        if self._is_era and self._replay.are_still(piece.vouched):
            return True
        return self._is_as_it_was_without_word(key, piece)

    def _is_so(self, variables: Variables, rows: Iterable[Row]) -> bool:
        """Whether variables have the digests, and questions the answers, that they had."""
        env = self._request.env
        if any(self._digest_of(env.get(name)) != value for name, value in variables):
            return False
        return all(self._answer(question) == answer for question, answer in rows)

    def _is_as_it_was_without_word(self, key: str, piece: Piece) -> bool:
        """Whether all answers are the same, where some signatures are missing or are not."""
        sure = unpacked(piece.sure)
        if sure is None:
            return False
        known = {
            path: signature
            for path, signature in piece.vouched.items()
            if self._is_era and signature and self._replay.are_still({path: signature})
        }
        for question, answer in sure:
            is_known = question[0] in ("content", "peek") and plain(question[1]) in known
            if not is_known and self._answer(question) != answer:
                return False
        # The next run need not ask again, if what is there now is old enough.
        vouched, sure_now, rest = self._vouching.divide(
            (*sure, *piece.rest), {**known, **self._replay.signatures}
        )
        if vouched != piece.vouched or not self._is_era:
            self._renewed[key] = msgspec.structs.replace(
                piece, vouched=vouched, sure=packed(sure_now), rest=tuple(rest)
            )
        return True

    def _answer(self, question: Question) -> Answer:
        if question not in self._answers:
            self._answers[question] = self._replay.answer(question)
        return self._answers[question]

    def _digest_of(self, value: str | None) -> bytes | None:
        if value is None:
            return None
        return self._kept.digest(value.encode("utf-8", "surrogatepass"))

    # What is kept for the next run.

    def _keep(
        self,
        key: str,
        trace: Trace,
        pack: Callable[[Packer], Any],
        more: Iterable[tuple[Question, Answer]] = (),
    ) -> None:
        """Keep what a piece found; what it refers to was read by itself, or is in `more`."""
        piece = None
        if trace.complete and not self._is_too_large():
            try:
                found = pack(Packer((*trace.answers.items(), *more), self._known))
            except Unfit:
                found = None
            piece = None if found is None else self._piece(trace, found)
        if piece is None:
            self._is_whole = False
        else:
            self._new[key] = piece
            self._size += len(piece.found) + len(piece.sure)

    def _is_too_large(self) -> bool:
        """Whether there is so much to keep that it will not be written, see `Kept.write`."""
        return self._size > keeping.MOST_BYTES

    def _piece(self, trace: Trace, found: Any) -> Piece | None:
        """A piece to write down; None if that cannot be, or must not."""
        vouched, sure, rest = self._vouching.divide(essential(trace.answers), trace.signatures)
        try:
            encoded = msgspec.msgpack.encode(found)
            written = msgspec.msgpack.encode([vouched, sure, rest]) + encoded
        except (TypeError, UnicodeEncodeError):  # a name that is not text, a key of another sort
            return None
        for name, value in trace.variables.items():
            # A value may have become a part of a path or of a name.
            is_long = value is not None and len(value) >= _SHORT and name not in _PLACES
            if is_long and value is not None and value.encode("utf-8", "replace") in written:
                return None
        variables = tuple((name, self._digest_of(each)) for name, each in trace.variables.items())
        return Piece(vouched, packed(sure), tuple(rest), variables, encoded)

    def save(self) -> None:
        """Keep what this run used and found, if that is not what is there already."""
        if self._is_too_large():
            return
        new = {key: piece for key, piece in self._renewed.items() if key in self._used} | self._new
        if not new and self._used.keys() == self._book.pieces.keys():
            return
        pieces = self._used | {key: msgspec.msgpack.encode(piece) for key, piece in new.items()}
        era = self._book.era if self._is_era else self._era
        if era is not None and not era.goes_on_in(this_era()):
            era = None  # the clock was set while the run went on
        book = _Book(era, self._about, self._ground(pieces, new), pieces)
        self._kept.write(self._name, msgspec.msgpack.encode(book))

    def _ground(self, pieces: Mapping[str, bytes], new: Mapping[str, Piece]) -> Ground | None:
        """What pieces rest on, some of which are new."""
        old, keys, ground = self._book.ground, [*pieces], None
        if old is not None and self._is_era and keys == [*self._book.pieces]:
            numbers = {keys.index(key): key for key in new}
            gone = {n: _read(self._book.pieces[key], Piece) for n, key in numbers.items()}
            ground = grounded_again(old, gone, {n: new[key] for n, key in numbers.items()})
        if ground is None:
            ground = grounded(new.get(key) or _read(pieces[key], Piece) for key in keys)
        return ground


def cache_of(
    root: str,
    request: Request,
    kind: str | None,
    *,
    about: str,
    began: int,
    digests: bool,
    texts: bool,
    make: bool,
) -> Cache | None:
    """The cache of a project for checks that are asked for in this way; None without one.

    With `make`, its folder is made if it is missing. For the rest see `Cache`.
    """
    if kind is not None and not is_built_in(kind):
        return None
    kept = open_kept(root, make=make)
    if kept is None:
        return None
    try:
        return Cache(
            kept, root, request, kind, about=about, began=began, digests=digests, texts=texts
        )
    except UnicodeEncodeError:  # a folder whose name is not text
        kept.close()
        return None


def _since(kept: Kept, began: int) -> int | None:
    """When the run began, by the clock that stamps files: whatever it asked, it asked later."""
    now = kept.now()
    return None if now is None else now - (time.monotonic_ns() - began)


def _described(request: Request, kind: str | None, *, digests: bool) -> bytes:
    """Everything that what is found depends on, beside what the system says.

    Raises `UnicodeEncodeError` for a path that is not text.
    """
    how = msgspec.structs.asdict(request)
    del how["env"]
    how["limits"] = repr(request.limits)
    here = os.path.abspath("")
    who = process_identity()
    return msgspec.json.encode(
        [_FORMAT, installed(), here, who, how, kind, digests], order="sorted"
    )


#: To be changed with the form of what is written.
_FORMAT = 3


def _decoded(data: bytes | memoryview | None) -> _Book:
    try:
        return _Book() if data is None else msgspec.msgpack.decode(data, type=_Book)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Book()


def _read(written: bytes, form: type[T]) -> T | None:
    try:
        return msgspec.msgpack.decode(written, type=form)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _divided(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Pieces that begin where a name says so: a new file changes one of them, and not the rest."""
    piece: list[Candidate] = []
    for each in candidates:
        begins = zlib.crc32(os.fsencode(each.path)) % _PIECE == 0
        if piece and (begins or len(piece) == _MOST):
            yield piece
            piece = []
        piece.append(each)
    if piece:
        yield piece


def _written(each: Candidate) -> str:
    return f"{each.named:d}{each.outside:d}{each.path}"


def _key(sort: str, *parts: str) -> str:
    return sort + digest(os.fsencode("\0".join(parts)))


def _is_of_files(key: str) -> bool:
    return key.startswith(f"{_FILES}=")


def _is_ours(each: Checked | None) -> bool:
    return each is None or each.kind is None or is_built_in(each.kind)
