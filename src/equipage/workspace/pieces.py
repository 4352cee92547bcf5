"""Pieces of work as they are kept: what each found, what it rests on, and what all of them do.

A piece rests on answers of the system and on variables. The ground of many pieces says once what
most of them have in common, and which of them rest on a path.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from equipage.files.vouching import Row, Vouched

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
    #: the numbers of the pieces that rest on each path of `vouched`, in that order: written by
    #: itself, because most runs do not read it
    owners: bytes

    def owning(self, paths: Iterable[str]) -> set[int]:
        """The numbers of the pieces that rest on these paths."""
        owners = self.by_path()
        return {number for each in paths for number in owners[each]}

    def by_path(self) -> dict[str, list[int]]:
        owners = msgspec.msgpack.decode(self.owners, type=list[list[int]])
        return dict(zip(self.vouched, owners, strict=True))


def grounded(pieces: Iterable[Piece | None]) -> Ground | None:
    """What pieces rest on; None if they cannot all hold."""
    return _joined({}, {}, {}, {}, enumerate(pieces))


def grounded_again(
    ground: Ground, gone: Mapping[int, Piece | None], new: Mapping[int, Piece]
) -> Ground | None:
    """What pieces rest on after some were replaced, by their numbers; None if that is not known."""
    owners = ground.by_path()
    for number, old in gone.items():
        # Whether others rest on a row, too, is not known; most rows stay.
        if old is None or not {*old.rest} <= {*new[number].rest}:
            return None
        if not {*old.variables} <= {*new[number].variables}:
            return None
        for path in old.vouched:
            owners[path].remove(number)
            if not owners[path]:
                del owners[path], ground.vouched[path]
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
    # Both dictionaries have the same keys, and got them in the same order.
    written = msgspec.msgpack.encode([*owners.values()])
    return Ground(vouched, (*rest.items(),), (*variables.items(),), written)


def packed(rows: Sequence[Row]) -> bytes:
    """Rows that most runs do not read."""
    return zlib.compress(msgspec.msgpack.encode(rows), level=1)


def unpacked(written: bytes) -> tuple[Row, ...] | None:
    """The rows that were packed; None if they are something else."""
    try:
        return msgspec.msgpack.decode(zlib.decompress(written), type=tuple[Row, ...])
    except (msgspec.MsgspecError, zlib.error):
        return None
