"""Run a tool by a request: one connection to one checked address, no redirects, a bounded answer.

The host is resolved here and the connection goes to the very address that was checked, so a name
cannot lead elsewhere between the check and the use. Proxies and cookies are not used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import h11

from equipage_serve.framing import decode_text, parse_strict_json, unwrap_answer
from equipage_serve.outcome import Failure, sentence
from equipage_serve.tools import Request, Tool, hidden_texts

_CHUNK = 1 << 16
_PORTS = {"http": 80, "https": 443}


class Requests:
    """Runs the tools of the kind http."""

    def __init__(self, parent: Mapping[str, str], *, private_addresses: bool) -> None:
        self.parent, self.private_addresses = parent, private_addresses

    async def run(self, tool: Tool, names: Mapping[str, Any], body: bytes) -> Any:
        """The value that the service answers with. Raises `Failure`."""
        assert tool.request is not None
        url = tool.request.address(names)
        headers = [(name, fill(names)) for name, fill in tool.request.headers]
        try:
            # One bound for everything: a service that answers byte by byte gains nothing.
            async with asyncio.timeout(tool.timeout_ms / 1000):
                data = await self._exchange(tool, tool.request, url, headers, body)
        except TimeoutError:
            text = f"the service did not answer within {tool.timeout_ms} ms"
            raise Failure("TIMEOUT", text) from None
        try:
            return unwrap_answer(parse_strict_json(decode_text(data)))
        except Failure as failure:
            text = sentence(failure.message, hidden_texts(tool, names))
            raise Failure(failure.code, text) from None

    async def _exchange(
        self, tool: Tool, request: Request, url: str, headers: list[tuple[str, str]], body: bytes
    ) -> bytes:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[request.scheme]
        addresses = await self._resolve(host, port)
        secure = ssl.create_default_context() if request.scheme == "https" else None
        reader, writer = await _connect(host, addresses, port, secure, tool.timeout_ms / 1000)
        try:
            return await _request(reader, writer, request, parts, headers, body, tool)
        except (OSError, h11.ProtocolError):
            raise Failure("UNAVAILABLE", "the service broke off the connection") from None
        finally:
            writer.close()

    async def _resolve(self, host: str, port: int) -> list[str]:
        """The addresses of the host, all of which may be reached. Raises `Failure`."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise Failure("UNAVAILABLE", f"there is no host {host}") from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        # Every address counts, because a name may lead to a public and a private one.
        for address in addresses:
            if not self.private_addresses and not _is_public(address):
                raise Failure(
                    "PERMISSION_DENIED",
                    f"{host} is an address of this machine or its network, which is not allowed",
                )
        return addresses


async def _connect(
    host: str, addresses: list[str], port: int, secure: ssl.SSLContext | None, seconds: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that answers. Raises `Failure`."""
    reason = ""
    # Connected by the addresses that were judged: asking for the name again could give another one.
    for address in addresses:
        try:
            # One that never answers leaves time for the others.
            share = None if address == addresses[-1] else seconds / len(addresses)
            async with asyncio.timeout(share):
                return await asyncio.open_connection(
                    address, port, ssl=secure, server_hostname=host if secure else None
                )
        except OSError as error:  # such as that its time is over
            reason = error.strerror or type(error).__name__
    raise Failure("UNAVAILABLE", f"cannot connect to {host}: {reason}")


#: Where the last 32 bits of an address of IPv6 are one of IPv4: IPv4-compatible and IPv4-translated
#: addresses, and those of NAT64.
_EMBEDDING = [ipaddress.IPv6Network(each) for each in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96")]
#: The addresses of NAT64 and of routes (SRv6) in one's own network.
_LOCAL = [ipaddress.IPv6Network(each) for each in ("64:ff9b:1::/48", "5f00::/16")]


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        # An IPv4 address can be written as one of IPv6; what it means decides.
        meant = address.ipv4_mapped or address.sixtofour
        if any(address in each for each in _EMBEDDING):
            meant = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if meant is not None:
            return _is_public(str(meant))
        if address.is_site_local or any(address in each for each in _LOCAL):
            return False
    return bool(address.is_global and not address.is_multicast)


async def _request(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Request,
    parts: Any,
    headers: list[tuple[str, str]],
    body: bytes,
    tool: Tool,
) -> bytes:
    """Send the request and read the answer, up to what the tool may give."""
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    given = {name.lower() for name, _ in headers}
    sends = request.method not in ("GET", "HEAD")
    # One request for each connection, so no answer can be taken for another.
    own = [("host", parts.netloc), ("connection", "close"), ("accept", "application/json")]
    if sends:
        own += [("content-type", "application/json"), ("content-length", str(len(body)))]
    lines = [*((name, value) for name, value in own if name not in given), *headers]
    connection = h11.Connection(h11.CLIENT)
    encoded = [(name.encode(), value.encode("utf-8")) for name, value in lines]
    start = h11.Request(method=request.method, target=target.encode(), headers=encoded)
    content = [h11.Data(data=body)] if sends else []
    for each in (start, *content, h11.EndOfMessage()):
        writer.write(connection.send(each) or b"")
    await writer.drain()
    data = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Response):
            # Redirects are not followed: the pack names where it connects to.
            if not 200 <= event.status_code < 300:
                raise Failure("INTERNAL_ERROR", f"the service answered {event.status_code}")
        elif isinstance(event, h11.Data):
            # Counted as it comes, so that a service cannot fill the memory.
            data += event.data
            if len(data) > tool.max_output_bytes:
                text = f"the output is larger than {tool.max_output_bytes} bytes"
                raise Failure("INVALID_OUTPUT", text)
        elif not isinstance(event, h11.InformationalResponse):
            return bytes(data)
