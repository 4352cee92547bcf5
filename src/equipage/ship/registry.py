"""A client of OCI registries, for the few requests that an artifact needs.

Every answer is bounded in size and every exchange in time. Names of hosts come from the user alone:
a redirect is followed without credentials, and only to HTTPS where HTTPS was asked for.
"""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urljoin, urlsplit

import msgspec

from equipage.ship import ShipError
from equipage.ship.artifact import MANIFEST, MAX_MANIFEST, Artifact, Descriptor, digest_of, require
from equipage.ship.credentials import TOKEN, Credentials

_REDIRECTS = 5
_CHUNK = 64 * 1024
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: The grammar of the OCI distribution specification: a host, a name in lower case, a tag, a digest.
_REFERENCE = re.compile(
    r"(?P<host>[A-Za-z0-9.-]+(?::\d+)?|\[[0-9a-fA-F:]+\](?::\d+)?)/"
    r"(?P<name>[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


class Reference(msgspec.Struct, frozen=True):
    """Where an artifact is: `host/name:tag` or `host/name@sha256:…`."""

    host: str
    name: str
    tag: str
    digest: str | None = None

    @property
    def wanted(self) -> str:
        return self.digest or self.tag


def reference_of(written: str) -> Reference:
    """Raises `ShipError` for what is not a reference."""
    found = _REFERENCE.fullmatch(written.removeprefix("docker://").removeprefix("oci://"))
    if found is None:
        raise ShipError(f"`{written}` is not a reference: expected HOST/NAME:TAG")
    return Reference(found["host"], found["name"], found["tag"] or "latest", found["digest"])


def is_reference(written: str) -> bool:
    """Whether something is a reference beyond doubt: its host is one by its form, as for Docker."""
    host = written.partition("/")[0]
    is_host = host == "localhost" or ":" in host or "." in host.strip(".")
    return is_host and not host.startswith(".") and _REFERENCE.fullmatch(written) is not None


class _Answer(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


class _Timed(io.RawIOBase):
    """A socket to read from while there is time left.

    The limit of a socket is for each read, so a registry that drips could go on for ever: with the
    body, with a header, with one interim answer after the other. It gets shorter with every read.
    """

    def __init__(self, sock: socket.socket, left: Callable[[], float]) -> None:
        self._socket, self._left = sock, left
        self._raw = sock.makefile("rb", buffering=0)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class Registry:
    """One registry, for one command. It gives up when its time is up."""

    def __init__(
        self,
        host: str,
        *,
        seconds: float = 60,
        plain_http: bool = False,
        credentials: Credentials | None = None,
    ) -> None:
        name = urlsplit(f"//{host}").hostname or ""
        self.scheme = "http" if plain_http or name in _LOOPBACK else "https"
        self.host = host
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.credentials = credentials
        self.token: str | None = None

    # What an artifact needs.

    def manifest(self, reference: Reference) -> bytes:
        """The manifest of an artifact, with the digest that was asked for. Raises `ShipError`."""
        url = f"/v2/{reference.name}/manifests/{quote(reference.wanted, safe=':')}"
        answer = self._ask("GET", url, {"Accept": MANIFEST}, limit=MAX_MANIFEST)
        if answer.status == 404:
            raise ShipError(f"{self.host} has no {reference.name}:{reference.wanted}")
        self._expect(answer, 200)
        # A digest proves what comes; a tag proves nothing, so the digest of the answer counts.
        found = digest_of(answer.body)
        said = reference.digest or answer.headers.get("docker-content-digest")
        if said is not None and said != found:
            raise ShipError(f"{self.host} sent a manifest {found} for {said}")
        return answer.body

    def blob(self, reference: Reference, wanted: Descriptor) -> bytes:
        """A part of an artifact, checked. Raises `ShipError`."""
        url = f"/v2/{reference.name}/blobs/{wanted.digest}"
        answer = self._ask("GET", url, {}, limit=wanted.size)
        self._expect(answer, 200)
        require(wanted, answer.body)
        return answer.body

    def push(self, reference: Reference, artifact: Artifact) -> None:
        """Put an artifact under a tag. Raises `ShipError`."""
        for digest, data in artifact.blobs.items():
            self._put_blob(reference, digest, data)
        url = f"/v2/{reference.name}/manifests/{quote(reference.tag)}"
        answer = self._ask("PUT", url, {"Content-Type": MANIFEST}, artifact.manifest)
        self._expect(answer, 201, 202)
        said = answer.headers.get("docker-content-digest", artifact.digest)
        if said != artifact.digest:
            raise ShipError(f"{self.host} stored {artifact.digest} as {said}")

    def _put_blob(self, reference: Reference, digest: str, data: bytes) -> None:
        # Most parts of a new version are those of the last one.
        there = self._ask("HEAD", f"/v2/{reference.name}/blobs/{digest}", {})
        if there.status == 200:
            return
        start = self._ask("POST", f"/v2/{reference.name}/blobs/uploads/", {}, b"")
        self._expect(start, 202)
        place = start.headers.get("location", "")
        if not place:
            raise ShipError(f"{self.host} does not say where to upload to")
        # The address may have a query of its own, by which the registry knows the upload.
        place = f"{place}{'&' if '?' in place else '?'}{urlencode({'digest': digest})}"
        headers = {"Content-Type": "application/octet-stream"}
        self._expect(self._ask("PUT", place, headers, data), 201)

    def _expect(self, answer: _Answer, *statuses: int) -> None:
        if answer.status in statuses:
            return
        if answer.status in (401, 403):
            raise ShipError(f"{self.host} refuses access; sign in with --auth docker or --auth env")
        raise ShipError(f"{self.host} answered with HTTP {answer.status}")

    # HTTP.

    def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        limit: int = MAX_MANIFEST,
    ) -> _Answer:
        """One request, signed in if the registry asks for it, redirects followed."""
        address = self._address(f"{self.scheme}://{self.host}", url)
        for _ in range(_REDIRECTS):
            # A place to upload to, and a redirect, are the words of the registry.
            if address.scheme not in ("https", self.scheme):
                raise ShipError(f"{self.host} redirects to an address that is not allowed")
            # A redirect leads to a store of another host, which must not see the token.
            ours = address.netloc == self.host
            signed = {"Authorization": self.token} if ours and self.token else {}
            answer = self._exchange(method, address, {**headers, **signed}, body, limit)
            # The first answer says how to sign in. A second refusal means that it did not help.
            if answer.status == 401 and ours and self.token is None:
                self.token = self._signed_in(answer.headers.get("www-authenticate", ""))
                if self.token is not None:
                    continue
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            # Sending a body again to another host is not what was asked for.
            if method not in ("GET", "HEAD"):
                raise ShipError(f"{self.host} redirects to an address that is not allowed")
            address = self._address(address.geturl(), answer.headers.get("location", ""))
        raise ShipError(f"{self.host} redirects too often")

    def _signed_in(self, challenge: str) -> str | None:
        """What to send as Authorization, by what a registry asks for."""
        scheme, _, rest = challenge.partition(" ")
        fields = dict(re.findall(r'(\w+)="([^"]*)"', rest))
        if scheme.lower() == "basic":
            return self.credentials.header if self.credentials else None
        realm = self._address("", fields.get("realm", ""))
        # The password goes where the registry says, as with Docker; to others only encrypted.
        ours = realm.scheme == self.scheme and realm.netloc == self.host
        if scheme.lower() != "bearer" or not (ours or realm.scheme == "https"):
            return None
        # Only what the registry names is asked for, so the token allows no more than this request.
        asked = {key: fields[key] for key in ("service", "scope") if key in fields}
        if self.credentials is not None and self.credentials.user == TOKEN:
            # A token of an earlier sign-in is sent in a form, and exchanged for one of this scope.
            kept = {"grant_type": "refresh_token", "refresh_token": self.credentials.password}
            form = urlencode({**asked, **kept, "client_id": "equipage"}).encode()
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = self._exchange("POST", realm, headers, form, MAX_MANIFEST)
        else:
            query = "&".join(filter(None, (realm.query, urlencode(asked))))
            headers = {"Authorization": self.credentials.header} if self.credentials else {}
            address = realm._replace(query=query)
            answer = self._exchange("GET", address, headers, None, MAX_MANIFEST)
        self._expect(answer, 200)
        try:
            value: Any = json.loads(answer.body)
            token = value.get("token") or value.get("access_token")
        except (ValueError, AttributeError, RecursionError):
            token = None
        # A line break in it would add headers to our requests.
        if not isinstance(token, str) or not token.isprintable():
            raise ShipError(f"{self.host} sent no token")
        return f"Bearer {token}"

    def _address(self, base: str, written: str) -> SplitResult:
        """An address that the registry wrote, seen from another one. Raises `ShipError`."""
        try:
            found = urlsplit(urljoin(base, written))
            is_odd = found.port == 0 or not found.netloc.isprintable() or " " in found.netloc
        except ValueError:  # half an address of IPv6, a port that is none
            is_odd = True
        if is_odd:
            raise ShipError(f"{self.host} names an address that is not allowed")
        return found

    def _exchange(
        self,
        method: str,
        parts: SplitResult,
        headers: Mapping[str, str],
        body: bytes | None,
        limit: int,
    ) -> _Answer:
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        connection = self._connection(parts.scheme, parts.netloc)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            data = b"" if method == "HEAD" else self._read(response, limit)
            named = {name.lower(): value for name, value in response.getheaders()}
            return _Answer(response.status, named, data)
        except TimeoutError:
            raise self._late() from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ShipError(f"{parts.netloc} does not answer as a registry: {reason}") from None
        finally:
            connection.close()

    def _connection(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        # A name and a password in an address would be sent to whatever host follows them.
        if "@" in netloc or not netloc:
            raise ShipError(f"{self.host} sends to an address that is not allowed")
        connection: http.client.HTTPConnection
        if scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(netloc, timeout=self._left(), context=context)
        else:
            connection = http.client.HTTPConnection(netloc, timeout=self._left())
        connection.response_class = self._response  # type: ignore[assignment]
        return connection

    def _response(self, sock: socket.socket, *more: Any, **fields: Any) -> http.client.HTTPResponse:
        """An answer that is read in time, its headers and its body."""
        timed: Any = _Timed(sock, self._left)  # what a response needs of a socket
        return http.client.HTTPResponse(timed, *more, **fields)

    def _read(self, response: http.client.HTTPResponse, limit: int) -> bytes:
        """The body, up to a limit."""
        found = bytearray()
        while True:
            part = response.read1(_CHUNK)
            if not part:
                return bytes(found)
            found += part
            if len(found) > limit and response.status == 200:
                raise ShipError(f"{self.host} sends more than {limit:,} bytes")
            # Of an error, only the status is looked at.
            if len(found) > MAX_MANIFEST and response.status != 200:
                return bytes(found)

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> ShipError:
        return ShipError(f"{self.host} did not finish within {self.seconds:g} seconds")
