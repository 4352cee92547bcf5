"""The password for a registry comes only from the source that the user names.

`--auth docker` reads what `docker login` kept, in its `config.json`. Most systems keep no password
there but name a helper, a program `docker-credential-NAME`. The user's own configuration names it,
and it runs for `push` and `pull` alone; nothing that checks or loads ever comes here.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from equipage.files.reading import peek
from equipage.ship import ShipError

#: Runs `docker-credential-NAME get` for a host; raises `ShipError`. The answer is JSON.
AskHelper = Callable[[str, str], bytes]
#: Docker keeps the password of its own registry under this name.
_DOCKER_HUB = "https://index.docker.io/v1/"
_ITS_HOSTS = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
#: A helper is a name, never a path: only programs that the user installed are found.
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: What a helper gives as the name if the secret is a token that has to be exchanged.
TOKEN = "<token>"


class Credentials(msgspec.Struct, frozen=True):
    """A name and a password; neither is ever shown."""

    user: str
    password: str

    def __repr__(self) -> str:
        return "Credentials(…)"

    @property
    def header(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def credentials_of(
    how: str, host: str, env: Mapping[str, str], ask: AskHelper
) -> Credentials | None:
    """What the user allows to look for: nothing, variables, or what `docker login` kept."""
    if how == "none":
        return None
    if how == "env":
        names = ("EQUIPAGE_REGISTRY_USER", "EQUIPAGE_REGISTRY_PASSWORD")
        missing = [name for name in names if not env.get(name)]
        if missing:
            raise ShipError(f"--auth env needs the variable {missing[0]}")
        return Credentials(*(env[name] for name in names))
    folder = env.get("DOCKER_CONFIG") or os.path.join(env.get("HOME", ""), ".docker")
    path = os.path.join(folder, "config.json")
    return _of_docker(path, host, ask)


def _of_docker(path: str, host: str, ask: AskHelper) -> Credentials:
    """As Docker looks: a helper for the host, the helper for all hosts, then the file itself."""
    try:
        config = json.loads(peek(path) or b"{}")
    except (ValueError, RecursionError):
        raise ShipError(f"--auth docker: {path} is not JSON") from None
    config = config if isinstance(config, dict) else {}
    key = _DOCKER_HUB if host in _ITS_HOSTS else host
    helpers, store = config.get("credHelpers"), config.get("credsStore")
    own = helpers.get(key) or helpers.get(host) if isinstance(helpers, dict) else None
    name = own or store
    if isinstance(name, str) and name:
        return _of_helper(name, key, path, ask)
    found = _of_file(config, key)
    if found is None:
        raise ShipError(f"--auth docker: {path} has no password for {host}")
    return found


def _of_file(config: Mapping[str, Any], key: str) -> Credentials | None:
    auths = config.get("auths")
    for name, entry in auths.items() if isinstance(auths, dict) else ():
        is_it = name == key or re.sub(r"\Ahttps?://|/(?:v[12]/?)?\Z", "", name) == key
        if not is_it or not isinstance(entry, dict):
            continue
        if isinstance(entry.get("identitytoken"), str) and entry["identitytoken"]:
            return Credentials(TOKEN, entry["identitytoken"])
        try:
            user, _, password = base64.b64decode(entry["auth"]).decode().partition(":")
        except (ValueError, KeyError, TypeError):
            continue
        if user:
            return Credentials(user, password)
    return None


def _of_helper(name: str, key: str, path: str, ask: AskHelper) -> Credentials:
    if not _HELPER.fullmatch(name):
        raise ShipError(f"--auth docker: the helper `{name[:80]}` in {path} is not a plain name")
    program = f"docker-credential-{name}"
    try:
        answer = json.loads(ask(program, key))
        user, password = answer["Username"], answer["Secret"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ShipError(f"--auth docker: `{program}` did not answer with a password") from None
    if not isinstance(user, str) or not isinstance(password, str) or not password:
        raise ShipError(f"--auth docker: `{program}` did not answer with a password")
    return Credentials(user, password)
