"""Bytes of a pipe, cut into lines: what every server of MCP reads."""

from __future__ import annotations

from collections.abc import Iterator


class LineSplitter:
    """Cuts bytes into lines; a line that is too long is None once, and skipped."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._rest = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are complete now. Without data, the last one."""
        # The end of the input ends a line, too.
        if not data and self._rest:
            data = b"\n"  # the client need not end its last line
        *whole, rest = (bytes(self._rest) + data).split(b"\n") if b"\n" in data else [data]
        if b"\n" not in data:
            self._rest += rest
        else:
            self._rest = bytearray(rest)
        for line in whole:
            # The rest of a line that was refused already.
            if self._skipping:
                self._skipping = False
            elif len(line) > self.longest:
                yield None
            else:
                yield line
        if len(self._rest) > self.longest:
            if not self._skipping:
                self._skipping = True
                yield None
            self._rest.clear()
