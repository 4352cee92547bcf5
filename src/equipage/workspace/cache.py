"""What earlier checks found, kept below the root of a project and used while it holds.

A piece of work is the check of a few files, or that of files which concern each other. With what it
found, everything is kept that it asked the system, each question with its answer, and a digest of
each variable that it looked up. It holds as long as asking again gives the same answers, see
`files.tracing`. Which files there are, what the settings make of findings, and merged layers are
worked out in every run.

Files of kinds that other packages bring are always checked: their code may ask anything.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.diagnostics import Diagnostic
from equipage.files.keeping import Kept, installed, open_kept
from equipage.files.replaying import Replay, essential
from equipage.files.tracing import Answer, Question, Trace, digest, traced
from equipage.loading.kind import Offer
from equipage.loading.registry import is_built_in
from equipage.loading.session import Request
from equipage.workspace.loads import Candidate, Checked, Checker
from equipage.workspace.packing import Packed, Packer, Unfit, Unpacker

if TYPE_CHECKING:
    from equipage.workspace.parallel import Checks

#: About so many files are one piece of work, and at most so many.
_PIECE, _MOST = 8, 24
#: Variables whose values are places, which the questions name.
_PLACES = frozenset({"HOME", "PATH", "XDG_CONFIG_HOME"})
#: Values of variables that are shorter are in any text.
_SHORT = 3

Results = Callable[[Sequence[Sequence[Candidate]], "Checks"], Iterator[Any]]


class _Piece(msgspec.Struct, array_like=True):
    """What a piece of work asked, by the numbers of questions, and what it found."""

    asked: tuple[int, ...]
    variables: tuple[tuple[str, bytes | None], ...]
    found: msgspec.Raw


class _Book(msgspec.Struct, array_like=True):
    """A file of the cache."""

    questions: tuple[tuple[Question, Answer], ...] = ()
    #: files whose text findings show, by real path
    shown: tuple[str, ...] = ()
    pieces: dict[str, _Piece] = {}


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
    """What is known from earlier runs that were asked for in this way."""

    def __init__(self, kept: Kept, request: Request, kind: str | None, *, digests: bool) -> None:
        self._kept = kept
        self._request = request
        self._kind = kind
        self._digests = digests
        self._name = kept.name_of(_described(request, kind, digests=digests))
        self._book = _decoded(kept.read(self._name))
        self._replay = Replay(request.env, frozenset(self._book.shown))
        self._holds: list[bool | None] = [None] * len(self._book.questions)
        self._unpacker = Unpacker(self._replay.contents)
        self._offers: str | None = None
        #: the pieces of this run: as they were, or what they asked and found now
        self._used: dict[str, _Piece] = {}
        self._new: dict[str, tuple[Trace, Packed]] = {}

    # Files, a few at a time.

    def checked(self, candidates: Sequence[Candidate], run: Results) -> Iterator[Any]:
        """What is kept of each candidate, in order; `run` checks those that have to be."""
        pieces = list(_divided(candidates))
        known = [self._recall(_key("files", *map(_written, piece))) for piece in pieces]
        checker = TracedChecker(self._request, self._kind, digests=self._digests)
        todo = [piece for piece, packed in zip(pieces, known, strict=True) if packed is None]
        results = run(todo, checker)
        for piece, packed in zip(pieces, known, strict=True):
            if packed is not None:
                yield from self._unpacker.files(packed)
                continue
            found = []
            for _ in piece:
                each = next(results, None)
                if each is None:
                    return  # the time of the run is up
                found.append(each)
                yield each.checked if isinstance(each, Traced) else each
            self._keep_files(piece, found)

    def _keep_files(self, piece: Sequence[Candidate], found: Sequence[Any]) -> None:
        trace = found[0].trace if isinstance(found[0], Traced) else None
        results = [each.checked for each in found if isinstance(each, Traced)]
        # A file whose check ended its process has a result of its own, and no trace.
        if trace is None or len(results) < len(piece) or not all(map(_is_ours, results)):
            return
        self._keep(_key("files", *map(_written, piece)), trace, lambda to: to.files(results))

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
            self._offers = _key(*map(repr, offers))
        key = _key("together", self._offers, *(f"{each.kind} {each.path}" for each in files))
        packed = self._recall(key)
        if packed is not None:
            return self._unpacker.together(packed)
        with traced(Trace()) as trace:
            env = trace.watched(self._request.env)
            found = find(msgspec.structs.replace(self._request, env=env))
        if all(map(_is_ours, files)):
            self._keep(key, trace, lambda to: to.together(found))
        return found

    # What is known, and whether it still holds.

    def _recall(self, key: str) -> Packed | None:
        piece = self._book.pieces.get(key)
        if piece is None or not self._is_as_it_was(piece):
            return None
        try:
            packed = msgspec.msgpack.decode(piece.found, type=Packed)
        except msgspec.MsgspecError:
            return None
        if not all(each.path in self._replay.contents for each in packed.sources):
            return None
        self._used[key] = piece
        return packed

    def _is_as_it_was(self, piece: _Piece) -> bool:
        env = self._request.env
        return all(map(self._has_its_answer, piece.asked)) and all(
            self._digest_of(env.get(name)) == value for name, value in piece.variables
        )

    def _has_its_answer(self, number: int) -> bool:
        known = self._holds[number]
        if known is None:
            question, answer = self._book.questions[number]
            known = self._holds[number] = self._replay.answer(question) == answer
        return known

    def _digest_of(self, value: str | None) -> bytes | None:
        if value is None:
            return None
        return self._kept.digest(value.encode("utf-8", "surrogatepass"))

    # What is kept for the next run.

    def _keep(self, key: str, trace: Trace, pack: Callable[[Packer], Packed]) -> None:
        if trace.complete:
            try:
                self._new[key] = trace, pack(Packer(trace))
            except Unfit:
                return

    def save(self) -> None:
        """Keep what this run used and found, if that is not what is there already."""
        if not self._new and self._used.keys() == self._book.pieces.keys():
            return
        numbers: dict[tuple[Question, Answer], int] = {}
        shown: set[str] = set()
        pieces: dict[str, _Piece] = {}
        for key, old in self._used.items():
            rows = (self._book.questions[number] for number in old.asked)
            asked = tuple(numbers.setdefault(row, len(numbers)) for row in rows)
            pieces[key] = msgspec.structs.replace(old, asked=asked)
            shown.update(
                each.path for each in msgspec.msgpack.decode(old.found, type=Packed).sources
            )
        for key, (trace, packed) in self._new.items():
            new = self._piece(trace, packed, numbers)
            if new is not None:
                pieces[key] = new
                shown.update(each.path for each in packed.sources)
        book = _Book(tuple(numbers), tuple(sorted(shown)), pieces)
        self._kept.write(self._name, msgspec.msgpack.encode(book))

    def _piece(
        self, trace: Trace, packed: Packed, numbers: dict[tuple[Question, Answer], int]
    ) -> _Piece | None:
        """A piece to write down; None if that cannot be, or must not."""
        rows = essential(trace.answers)
        try:
            found = msgspec.msgpack.encode(packed)
            written = msgspec.msgpack.encode([rows, packed])
        except (TypeError, UnicodeEncodeError):  # a name that is not text, a key of another sort
            return None
        for name, value in trace.variables.items():
            # A value may have become a part of a path or of a name.
            is_long = value is not None and len(value) >= _SHORT and name not in _PLACES
            if is_long and value is not None and value.encode("utf-8", "replace") in written:
                return None
        variables = tuple((name, self._digest_of(each)) for name, each in trace.variables.items())
        asked = tuple(numbers.setdefault(row, len(numbers)) for row in rows)
        return _Piece(asked, variables, msgspec.Raw(found))


def cache_of(root: str, request: Request, kind: str | None, *, digests: bool) -> Cache | None:
    """The cache of a project for checks that are asked for in this way; None without one."""
    if kind is not None and not is_built_in(kind):
        return None
    kept = open_kept(root)
    return None if kept is None else Cache(kept, request, kind, digests=digests)


def _described(request: Request, kind: str | None, *, digests: bool) -> bytes:
    """Everything that what is found depends on, beside what the system says."""
    how = msgspec.structs.asdict(request)
    del how["env"]
    how["limits"] = repr(request.limits)
    here = os.path.abspath("")
    return msgspec.json.encode([_FORMAT, installed(), here, how, kind, digests], order="sorted")


#: To be changed with the form of what is written.
_FORMAT = 1


def _decoded(data: bytes | None) -> _Book:
    try:
        return _Book() if data is None else msgspec.msgpack.decode(data, type=_Book)
    except (msgspec.MsgspecError, RecursionError):
        return _Book()


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


def _key(*parts: str) -> str:
    return digest(os.fsencode("\0".join(parts)))


def _is_ours(each: Checked | None) -> bool:
    return each is None or each.kind is None or is_built_in(each.kind)
