"""Pieces of work as they are kept: what each found, what it rests on, and what all of them do.

A piece rests on answers of the system and on variables. The ground of many pieces says once what
most of them have in common, and which of them rest on a path.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from equipage.files.vouching import Row, Vouched

T = TypeVar("T")

#: Names of variables with digests of their values.
Variables = tuple[tuple[str, bytes | None], ...]


class Piece(msgspec.Struct, array_like=True):
    """What a piece of work asked, and what it found."""

    vouched: Vouched
    #: rows that hold while everything in `vouched` is as it was: packed, because they are many, and
    #: most runs read none of them
    sure: bytes
    rest: tuple[Row, ...]  #: rows that are asked again in any case
    variables: Variables
    found: bytes


class Ground(msgspec.Struct, array_like=True):
    """What pieces rest on: as long as all of it is as it was, all of them hold."""

    vouched: Vouched  #: None also for a path that is not the same to all of them
    rest: tuple[Row, ...]
    variables: Variables
    owners: bytes  #: the numbers of the pieces that rest on each path, packed

    def owning(self, paths: Iterable[str]) -> set[int] | None:
        """The numbers of the pieces that rest on these paths."""
        owners = unpacked(self.owners, dict[str, list[int]])
        return None if owners is None else {number for each in paths for number in owners[each]}


def grounded(pieces: Iterable[Piece | None]) -> Ground | None:
    """What pieces rest on; None if they cannot all hold."""
    return _joined({}, {}, {}, {}, enumerate(pieces))


def grounded_again(
    ground: Ground, gone: Mapping[int, Piece | None], new: Mapping[int, Piece]
) -> Ground | None:
    """What pieces rest on after some were replaced, by their numbers; None if that is not known."""
    owners = unpacked(ground.owners, dict[str, list[int]])
    for number, old in gone.items():
        # Whether others rest on a row, too, is not known; most rows stay.
        if owners is None or old is None or not {*old.rest} <= {*new[number].rest}:
            return None
        if not {*old.variables} <= {*new[number].variables}:
            return None
        for path in old.vouched:
            owners[path].remove(number)
            if not owners[path]:
                del owners[path], ground.vouched[path]
    if owners is None:
        return None
    rest, variables = dict(ground.rest), dict(ground.variables)
    return _joined(ground.vouched, rest, variables, owners, new.items())


def _joined(
    vouched: Vouched,
    rest: dict[tuple[str, ...], bool | str | None],
    variables: dict[str, bytes | None],
    owners: dict[str, list[int]],
    pieces: Iterable[tuple[int, Piece | None]],
) -> Ground | None:
    """A ground with more pieces on it; all that is given is changed."""
    for number, piece in pieces:
        if piece is None:
            return None
        for path, signature in piece.vouched.items():
            known = vouched.setdefault(path, signature)
            if known != signature:
                vouched[path] = None
            owners.setdefault(path, []).append(number)
        if any(rest.setdefault(*row) != row[1] for row in piece.rest):
            return None
        if any(variables.setdefault(*each) != each[1] for each in piece.variables):
            return None
    return Ground(vouched, (*rest.items(),), (*variables.items(),), packed(owners))


def packed(value: Sequence[Row] | Mapping[str, Sequence[int]]) -> bytes:
    """Something that most runs do not read."""
    return zlib.compress(msgspec.msgpack.encode(value), level=1)


def unpacked(written: bytes, form: type[T]) -> T | None:
    """What was packed; None if it is something else."""
    try:
        return msgspec.msgpack.decode(zlib.decompress(written), type=form)
    except (msgspec.MsgspecError, zlib.error):
        return None
