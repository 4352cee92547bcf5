"""Programs that fetch what they run: `npx`, `uvx`, `docker run` and their relatives.

What such a launcher runs is pinned if the command names one version of it for good: an exact
version, a commit, the digest of an image. Anything else runs what is published at that moment.
"""

from __future__ import annotations

import re

import msgspec

from equipage.core.text import lazy_regex

#: Launchers of packages, by how an exact version is written.
NPM_LAUNCHERS = frozenset({"npx", "bunx", "pnpx"})
PYTHON_LAUNCHERS = frozenset({"uvx", "pipx"})
_CONTAINER_LAUNCHERS = frozenset({"docker", "podman", "nerdctl"})
_EXACT_VERSION = lazy_regex(r"v?\d+\.\d+(?:\.\d+)?[\w.+-]*\Z")
#: Options of launchers that take the next word.
_OPTIONS_WITH_VALUE = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "-c", "--call", "--registry", "--index-url"}
)
#: Options that take none. After any other the next word may be its value, perhaps a secret.
_FLAGS = frozenset({
    "-y", "--yes", "-q", "--quiet", "-s", "--silent", "-v", "--verbose", "--no", "--no-install",
    "--ignore-existing", "--prefer-offline", "--prefer-online", "--offline", "--bun", "--refresh",
    "--no-cache", "-n", "--isolated", "--native-tls", "--no-config", "--no-progress", "--",
})  # fmt: skip
_PACKAGE_OPTIONS = frozenset({"-p", "--package", "--from", "--spec"})
# fmt: off
#: Options of `docker run` that take the next word.
_DOCKER_OPTIONS_WITH_VALUE = frozenset({
    "-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "-p", "--publish", "-w",
    "--workdir", "-u", "--user", "--network", "--net", "--entrypoint", "-h", "--hostname", "-l",
    "--label", "-m", "--memory", "--cpus", "--platform", "--pull", "--add-host", "--device",
    "--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "--ulimit", "--shm-size", "--gpus",
    "--dns", "--expose", "--link", "--restart", "--runtime", "--volumes-from",
})
#: Two words that are one launcher → the launcher whose rules they follow.
_TWO_WORD_LAUNCHERS = {
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
    if rest and (program, rest[0]) in _TWO_WORD_LAUNCHERS:
        program, rest = _TWO_WORD_LAUNCHERS[program, rest[0]], rest[1:]
    if (program, *rest[:2]) == ("uv", "tool", "run"):
        program, rest = "uvx", rest[2:]
    if program in NPM_LAUNCHERS | PYTHON_LAUNCHERS:
        package = _find_package(rest)
        if package is None or not re.match(r"[@\w]|-.* …\Z", package):
            return None
        return Launch(program, package, _exact_version(package, program))
    if program in _CONTAINER_LAUNCHERS and "run" in rest:
        image = _find_image(rest[rest.index("run") + 1 :])
        digest = re.search(r"@(sha256:[0-9a-f]{64})\Z", image or "")
        return Launch(program, image, digest and digest[1]) if image else None
    if program in ("deno", "go", "dnx"):
        return _runtime_launch(program, rest)
    return None


def _find_package(words: list[str]) -> str | None:
    """The package that a launcher runs: what an option names, else the first word."""
    first = None
    for number, word in enumerate(words):
        before = words[number - 1] if number else ""
        name, _, value = word.partition("=")
        if name in _PACKAGE_OPTIONS and value:
            return value
        if before in _PACKAGE_OPTIONS:
            return word
        if not word.startswith("-") and before not in _OPTIONS_WITH_VALUE and first is None:
            if before.startswith("-") and "=" not in before and before not in _FLAGS:
                return f"{before} …"  # which word is the package cannot be known: it is not pinned
            first = word
            if not any(each.partition("=")[0] in _PACKAGE_OPTIONS for each in words[:number]):
                break
    return first


def _exact_version(package: str, program: str) -> str | None:
    """The version that a package names: `a@1.2.3`, `a==1.2.3`, a commit; None without one."""
    if package.startswith(("git+", "github:", "http")):
        commit = re.search(r"[@#]([0-9a-f]{40})\Z", package)
        return commit[1] if commit else None
    if package.startswith((".", "/", "~", "$", "{", "file:")):
        return package  # a file of the project, or not known here
    if program in NPM_LAUNCHERS:
        version = package[1:].partition("@")[2]
    else:
        parts = re.split(r"==|@", package, maxsplit=1)
        version = parts[1] if len(parts) == 2 else ""
    return version if _EXACT_VERSION.match(version) else None


def _find_image(words: list[str]) -> str | None:
    """The image that a container starts from: the first word that belongs to no option."""
    takes_next = False
    for word in words:
        if takes_next:
            takes_next = False
        elif word.startswith("-"):
            takes_next = word in _DOCKER_OPTIONS_WITH_VALUE
        else:
            return word
    return None


def _runtime_launch(program: str, words: list[str]) -> Launch | None:
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
    return Launch(program, package, version if _EXACT_VERSION.match(version) else None)
