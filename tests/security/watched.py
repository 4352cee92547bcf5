"""Loads under the eyes of Python's audit hooks, in a process of its own.

- `watched.py execution FOLDER` writes files full of code and loads them; it prints what was
  executed or imported.
- `watched.py opens JOBS` loads what the file JOBS lists; it prints what each load opened.
- `watched.py sockets JOBS` prints the sockets and name lookups of each load instead.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equipage
from equipage.core.diagnostics import Catalogue
from equipage.loading.pipeline import load_path
from equipage.loading.session import Request
from equipage.loading.type_words import type_info
from equipage.project.registry import built_in_kinds, format_named

EXECUTION = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
    "subprocess.Popen",
    "exec",
    "compile",
    "import",
    "ctypes.dlopen",
    "pty.spawn",
    "marshal.loads",
    "pickle.find_class",
)


def warm_up() -> None:
    """Import everything a load needs, so that only what *files* cause is seen afterwards.

    Much of equipage is imported when it is first needed; here all of it is, and every model is
    looked at once.
    """
    for module in pkgutil.walk_packages(equipage.__path__, "equipage."):
        # An integration needs the program that it is for, and no load imports it.
        if not module.name.startswith(("equipage.__main__", "equipage.integrations")):
            imported = importlib.import_module(module.name)
            for each in vars(imported).values():
                if isinstance(each, Catalogue):  # the words of the package are read once, too
                    assert all(code.words.message for code in each.declared())
    for module in (
        "yaml.cyaml",
        "jsonschema_rs",
        "rtoml",
        "difflib",
        "unicodedata",
        "base64",
        "hashlib",
    ):
        importlib.import_module(module)
    for name in built_in_kinds():
        type_info(format_named(name).model)


class Watch:
    """The events of interest while it is on."""

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self.wanted = wanted
        self.on = False
        self.seen: list[tuple[str, str]] = []
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and self.wanted(event):
            self.seen.append((event, str(arguments[:1])))


def load_job(job: dict[str, Any]) -> list[str]:
    """Load a file and give the codes of what was found."""
    os.chdir(job["cwd"])
    if "content" in job:
        with open(job["file"], "w") as file:
            file.write(job["content"])
    request = Request(env=job.get("env", {}), options=job.get("options", {}))
    outcome = load_path(job["file"], format_named(job["kind"]), request)
    loaded = outcome.loaded_or_none()
    text = "" if loaded is None else json.dumps(loaded.to_dict(), default=str) + loaded.digest
    return [*(each.code for each in outcome.diagnostics), text]


# --- execution -----------------------------------------------------------------------------------


def execution(folder: str) -> list[tuple[str, str]]:
    from security.test_inert_data import TAGS, TEMPLATES
    from security.world import SAMPLES

    warm_up()
    os.chdir(folder)
    os.mkdir(".git")
    watch = Watch(lambda event: event.startswith(EXECUTION))
    for sample in SAMPLES:
        path = sample.write(Path(folder))
        for text in (
            sample.text,
            f"{sample.text}\nx: [1\n",
            sample.text.replace("a", "b"),
            "{}",
            "x: 1\n",
        ):
            sample.write(Path(folder), text)  # whatever is imported or compiled late, is now
            equipage.check([path], kind=sample.kind, env={})
        sample.write(Path(folder))
        for evil in (*TAGS, *TEMPLATES):
            for text in (
                evil,
                f"{sample.text}\nx: {evil}\n",
                sample.text.replace("Writes.", json.dumps(evil)[1:-1]),
            ):
                sample.write(Path(folder), text)
                watch.on = True
                report = equipage.check([path], kind=sample.kind, env={})
                watch.on = False
                assert "internal-error" not in {each.code for each in report.diagnostics}
    # Modules that explain something about a bad file may be imported then; ours and the parsers'
    # only.
    fine = ("equipage.", "yaml", "difflib", "json", "rtoml", "tomllib", "unicodedata", "encodings.")
    return [
        each
        for each in watch.seen
        if not (each[0] == "import" and each[1].strip("(',)").startswith(fine))
    ]


# --- opens ---------------------------------------------------------------------------------------


class Opens:
    """Where every opened descriptor really led: asked of the system, not of the path that was
    given."""

    def __init__(self) -> None:
        self.on = self.inside = False
        self.led: list[str] = []
        self.open = os.open
        os.open = self.opened  # type: ignore[assignment]
        sys.addaudithook(self.hook)

    def opened(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        self.inside = True
        try:
            descriptor = self.open(path, flags, mode, dir_fd=dir_fd)
        finally:
            self.inside = False
        if self.on:
            self.led.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        return descriptor

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Whoever opens or lists in another way is seen too."""
        if not self.on or self.inside:
            return
        if (event == "open" and isinstance(arguments[0], str | bytes)) or (
            event in ("os.listdir", "os.scandir") and isinstance(arguments[0], str | bytes)
        ):
            self.led.append(os.path.realpath(os.fsdecode(arguments[0])))


def opens(jobs: list[dict[str, Any]]) -> list[Any]:
    warm_up()
    watch = Opens()
    result = []
    for job in jobs:
        watch.led.clear()
        watch.on = True
        try:
            said = load_job(job)
        finally:
            watch.on = False
        result.append({"said": said, "opened": sorted(set(watch.led)), "cwd": job["cwd"]})
    return result


def sockets(jobs: list[dict[str, Any]]) -> list[Any]:
    warm_up()
    watch = Watch(lambda event: event.startswith(("socket.", "urllib.", "http.", "ftplib.")))
    result = []
    for job in jobs:
        watch.seen.clear()
        watch.on = True
        said = load_job(job)
        watch.on = False
        result.append({"said": said, "seen": list(watch.seen)})
    return result


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    what, given = sys.argv[1:]
    if what == "execution":
        answer: Any = execution(given)
    else:
        listed = json.loads(Path(given).read_text())
        answer = opens(listed) if what == "opens" else sockets(listed)
    io.TextIOWrapper(sys.stdout.buffer, "utf-8", write_through=True).write(json.dumps(answer))
