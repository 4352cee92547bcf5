"""An index of git, byte by byte, without running git."""

from __future__ import annotations


def a_number(value: int) -> bytes:
    """A number of variable length as git writes it."""
    found = [value & 0x7F]
    while value := value >> 7:
        value -= 1
        found.insert(0, 0x80 | (value & 0x7F))
    return bytes(found)


def an_index(
    version: int,
    entries: list[tuple[str, int]],
    *,
    hash_size: int = 20,
    extended: bool = False,
    extensions: bytes = b"",
) -> bytes:
    """An index as git writes it; an entry is a name and the type of what is there."""
    data = b"DIRC" + version.to_bytes(4, "big") + len(entries).to_bytes(4, "big")
    before = b""
    for name, sort in entries:
        own = name.encode()
        entry = bytearray(b"\xff" * (40 + hash_size) + min(len(own), 0xFFF).to_bytes(2, "big"))
        entry[24:28] = bytes((0, 0, sort << 4 | 1, 0xA4))
        if extended:
            entry[40 + hash_size] |= 0x40
            entry += b"\x20\x01"
        if version == 4:
            same = 0
            while same < min(len(own), len(before)) and own[same] == before[same]:
                same += 1
            entry += a_number(len(before) - same) + own[same:] + b"\0"
        else:
            entry += own
            entry += b"\0" * (8 - len(entry) % 8)
        before = own
        data += entry
    return data + extensions + b"\xee" * hash_size
