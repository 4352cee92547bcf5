"""Programs that fetch what they run: `npx`, `uvx`, `docker run` and their relatives.

What such a launcher runs is pinned if the command names one version of it for good: an exact
version, a commit, the digest of an image. Anything else runs what is published at that moment.
"""

from __future__ import annotations

import re

import msgspec

from equipage.core.text import expression

#: Launchers of packages, by how an exact version is written.
NPM = frozenset({"npx", "bunx", "pnpx"})
PYTHON = frozenset({"uvx", "pipx"})
_IMAGES = frozenset({"docker", "podman", "nerdctl"})
_EXACT = expression(r"v?\d+\.\d+(?:\.\d+)?[\w.+-]*\Z")
#: Options of launchers that take the next word.
_TAKING = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "-c", "--call", "--registry", "--index-url"}
)
#: Options that take none. After any other the next word may be its value, perhaps a secret.
_FLAGS = frozenset({
    "-y", "--yes", "-q", "--quiet", "-s", "--silent", "-v", "--verbose", "--no", "--no-install",
    "--ignore-existing", "--prefer-offline", "--prefer-online", "--offline", "--bun", "--refresh",
    "--no-cache", "-n", "--isolated", "--native-tls", "--no-config", "--no-progress", "--",
})  # fmt: skip
_NAMING = frozenset({"-p", "--package", "--from", "--spec"})
# fmt: off
#: Options of `docker run` that take the next word.
_OF_IMAGES = frozenset({
    "-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "-p", "--publish", "-w",
    "--workdir", "-u", "--user", "--network", "--net", "--entrypoint", "-h", "--hostname", "-l",
    "--label", "-m", "--memory", "--cpus", "--platform", "--pull", "--add-host", "--device",
    "--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "--ulimit", "--shm-size", "--gpus",
    "--dns", "--expose", "--link", "--restart", "--runtime", "--volumes-from",
})
#: Two words that are one launcher → the launcher whose rules they follow.
_TWO = {
    ("pnpm", "dlx"): "npx", ("yarn", "dlx"): "npx", ("bun", "x"): "npx", ("npm", "exec"): "npx",
    ("pipx", "run"): "uvx",
}
# fmt: on


class Launch(msgspec.Struct, frozen=True):
    """What a command fetches and runs."""

    launcher: str  #: the program, or the launcher whose rules it follows
    package: str
    pin: str | None = None  #: the exact version, commit or digest; None if it is not pinned


def launch_of(words: list[str]) -> Launch | None:
    """What a command line fetches and runs; None if it fetches nothing."""
    if not words:
        return None
    program = re.split(r"[\\/]", words[0])[-1].removesuffix(".cmd").removesuffix(".exe")
    rest = words[1:]
    if program == "cmd" and rest[:1] in (["/c"], ["/C"]):
        program, rest = rest[1] if len(rest) > 1 else "", rest[2:]
    if rest and (program, rest[0]) in _TWO:
        program, rest = _TWO[program, rest[0]], rest[1:]
    if (program, *rest[:2]) == ("uv", "tool", "run"):
        program, rest = "uvx", rest[2:]
    if program in NPM | PYTHON:
        package = _package(rest)
        if package is None or not re.match(r"[@\w]|-.* …\Z", package):
            return None
        return Launch(program, package, _version(package, program))
    if program in _IMAGES and "run" in rest:
        image = _image(rest[rest.index("run") + 1 :])
        digest = re.search(r"@(sha256:[0-9a-f]{64})\Z", image or "")
        return Launch(program, image, digest and digest[1]) if image else None
    if program in ("deno", "go", "dnx"):
        return _other(program, rest)
    return None


def _package(words: list[str]) -> str | None:
    """The package that a launcher runs: what an option names, else the first word."""
    first = None
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        name, _, value = word.partition("=")
        if name in _NAMING and value:
            return value
        if before in _NAMING:
            return word
        if not word.startswith("-") and before not in _TAKING and first is None:
            if before.startswith("-") and "=" not in before and before not in _FLAGS:
                return f"{before} …"  # which word is the package cannot be known: it is not pinned
            first = word
            if not any(each.partition("=")[0] in _NAMING for each in words[:number]):
                break
    return first


def _version(package: str, program: str) -> str | None:
    """The version that a package names: `a@1.2.3`, `a==1.2.3`, a commit; None without one."""
    if package.startswith(("git+", "github:", "http")):
        commit = re.search(r"[@#]([0-9a-f]{40})\Z", package)
        return commit[1] if commit else None
    if package.startswith((".", "/", "~", "$", "{", "file:")):
        return package  # a file of the project, or not known here
    if program in NPM:
        version = package[1:].partition("@")[2]
    else:
        parts = re.split(r"==|@", package, maxsplit=1)
        version = parts[1] if len(parts) == 2 else ""
    return version if _EXACT.match(version) else None


def _image(words: list[str]) -> str | None:
    """The image that a container starts from: the first word that belongs to no option."""
    takes_next = False
    for word in words:
        if takes_next:
            takes_next = False
        elif word.startswith("-"):
            takes_next = word in _OF_IMAGES
        else:
            return word
    return None


def _other(program: str, words: list[str]) -> Launch | None:
    """Packages that `deno`, `go` and `dnx` fetch."""
    named = [word for word in words if not word.startswith("-") and word != "run"]
    package = named[0] if named else ""
    fetched = {
        "deno": package.startswith(("npm:", "jsr:", "http:", "https:")),
        "go": "/" in package and "." in package.partition("/")[0] and not package.startswith("."),
        "dnx": bool(package),
    }
    if not fetched[program]:
        return None
    version = package.rpartition("@")[2] if "@" in package.lstrip("@") else ""
    return Launch(program, package, version if _EXACT.match(version) else None)
