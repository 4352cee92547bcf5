"""Ask one tree everything that `tools/golden.py` compares, and write the answers as JSON.

    python tools/questions.py ANSWERS [--only WORD]

Runs in the Python of the tree that is asked, in a folder that golden.py filled. It uses nothing of
the package but what stays: the command line, by `equipage.__main__:main`, and public names. All
commands but the language server run in this process, so that thousands of them take a minute.

An answer is the text of both streams and the exit code. A command that does not exist answers, too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

#: What is asked about every tree: a title and the words of the command, in the folder of the tree.
TREE = {
    "check": ["check", "."],
    "check json": ["check", "--json", "."],
    "check sarif": ["check", "-f", "sarif", "."],
    "check fixes": ["check", "--diff", "--unsafe-fixes", "."],
    "list": ["list", "--json"],
    "reach": ["reach", "--json"],
    "budget": ["budget", "--json"],
}
#: What is asked about examples and the corpus, too.
LARGE = {
    **{
        f"check {name}": ["check", "-f", name, "."]
        for name in ("concise", "github", "gitlab", "jsonl", "junit", "markdown")
    },
    "check verbose": ["check", "--verbose", "."],
    "check statistics": ["check", "--statistics", "."],
    "list text": ["list"],
    "reach text": ["reach"],
    "reach why": ["reach", "--why", "run"],
    "budget parts": ["budget", "--parts"],
}
#: Files and folders whose opens are listed, below the folder of the examples.
OPENED = ("conventions/.claude/agents/reviewer.md", "conventions", "server")
#: The folders that the language server is asked about, below the folder of the examples.
EDITED = ("server", "broken", "blueprint", "conventions", "tools", "profiles/project")

_OPENS = """\
import os, sys
from collections import Counter
from equipage.__main__ import main
import equipage

here = os.getcwd()
ours = (sys.prefix, sys.base_prefix, os.path.dirname(equipage.__file__), "/proc/", "/dev/", "/usr/")
opens = Counter()

def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str):
        if not arguments[0].startswith(ours):
            opens[f"{event.rpartition('.')[2]} {arguments[0]}"] += 1

sys.argv = ["equipage", "check", sys.argv[1]]
sys.addaudithook(hook)
code = main()
for name, count in sorted(opens.items()):
    print(f"{count} {name}")
"""


class Asking:
    """The answers so far, by question and subject."""

    def __init__(self, only: str) -> None:
        from equipage.__main__ import main

        self.main = main
        self.top = Path.cwd()
        self.only = only
        self.answers: dict[str, dict[str, str]] = {}

    def wants(self, question: str) -> bool:
        return self.only in question

    def note(self, question: str, subject: str, answer: str) -> None:
        self.answers.setdefault(question, {})[subject] = answer

    def run(
        self, words: list[str], folder: str = ".", env: Mapping[str, str] | None = None
    ) -> tuple[str, str]:
        """What a command prints to standard output, and the rest of its answer."""
        before = dict(os.environ)
        os.environ.update(env or {})
        os.chdir(self.top / folder)
        sys.argv = ["equipage", *words]
        try:
            with caught(1) as out, caught(2) as err:
                try:
                    end = f"exit {self.main()}"
                except BaseException as error:  # the other questions are asked all the same
                    end = f"raised {type(error).__name__}: {error}"
                printed, noted = out(), err()
        finally:
            os.chdir(self.top)
            os.environ.clear()
            os.environ.update(before)
        return printed, f"{noted}{end}\n"

    def ask(self, question: str, subject: str, words: list[str], folder: str = ".") -> None:
        if self.wants(question):
            self.note(question, subject, "".join(self.run(words, folder)))

    def data(self, *words: str, folder: str = ".") -> Any:
        """What a command prints as JSON; an empty table if it prints none."""
        try:
            return json.loads(self.run([*words, "--json"], folder)[0])
        except ValueError:
            return {}


@contextlib.contextmanager
def caught(descriptor: int) -> Iterator[Any]:
    """Send a descriptor to a file; gives a function that returns what was written there."""
    stream = sys.stdout if descriptor == 1 else sys.stderr
    stream.flush()
    kept = os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)

        def text() -> str:
            stream.flush()
            file.seek(0)
            return file.read().decode("utf-8", "backslashreplace")

        try:
            yield text
        finally:
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)


def ask_about_equipage(asking: Asking) -> None:
    """Help of every command, every kind, every code."""
    asking.ask("help", "", ["--help"])
    for command in re.findall(r"^    (\w+)  ", asking.run(["--help"])[0], re.MULTILINE):
        asking.ask("help", command, [command, "--help"])
    asking.ask("kinds", "", ["kinds"])
    for each in asking.data("kinds").get("kinds", ()):
        asking.ask("kinds", each["kind"], ["kinds", each["kind"]])
        asking.ask("kinds json", each["kind"], ["kinds", each["kind"], "--json"])
        asking.ask("schema", each["kind"], ["schema", each["kind"]])
    asking.ask("rule", "", ["rule"])
    for each in asking.data("rule").get("rules", ()):
        asking.ask("rule", each["code"], ["rule", each["code"]])
        asking.ask("rule json", each["code"], ["rule", each["code"], "--json"])


def ask_about_tree(asking: Asking, tree: str, questions: Mapping[str, list[str]]) -> None:
    """What commands say about a folder; its page, its lock; how an edited copy differs."""
    for question, words in questions.items():
        asking.ask(question, tree, words, tree)
    folder = asking.top / tree
    page, lock = folder / "golden.html", folder / "equipage.lock"
    if asking.wants("report"):
        answer = "".join(asking.run(["report", ".", "--html", page.name], tree))
        asking.note("report", tree, answer + (page.read_text() if page.exists() else ""))
        page.unlink(missing_ok=True)
    if asking.wants("lock") or asking.wants("verify"):
        was = lock.read_bytes() if lock.exists() else None
        answer = "".join(asking.run(["lock"], tree))
        asking.note("lock", tree, answer + (lock.read_text() if lock.exists() else ""))
        asking.ask("verify", tree, ["verify", "--frozen"], tree)
        edited = asking.top / "edited" / tree / "equipage.lock"
        if lock.exists() and not edited.exists():
            lock.rename(edited)
            asking.ask("verify edited", tree, ["verify", "--json"], f"edited/{tree}")
            edited.unlink()
        if was is not None:
            lock.write_bytes(was)
    edited_tree = os.path.relpath(asking.top / "edited" / tree, folder)
    asking.ask("diff", tree, ["diff", ".", edited_tree], tree)
    asking.ask("diff json", tree, ["diff", ".", edited_tree, "--json"], tree)
    words = ["diff", ".", edited_tree, "-f", "markdown", "--fail-on", "widened"]
    asking.ask("diff widened", tree, words, tree)


def ask_about_file(
    asking: Asking,
    tree: str,
    name: str,
    kind: str,
    env: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """What one file loads to: as text, as a value, from a pickle, and where values come from."""
    import equipage

    subject = f"{tree}/{name} as {kind}"
    words = [name, "--kind", kind]
    if asking.wants("check file"):
        answer = asking.run(["check", *words, "--json"], tree, env)
        asking.note("check file", subject, "".join(answer))
    if not (asking.wants("show") or asking.wants("explain") or asking.wants("pickle")):
        return
    asking.note("show", subject, "".join(asking.run(["show", *words, "--annotate"], tree, env)))
    os.chdir(asking.top / tree)
    try:
        how: dict[str, Any] = {"kind": kind, "env": env or {}, **(options or {})}
        loaded = equipage.load(name, **how)
        again = pickle.loads(pickle.dumps(loaded))
        told = [again.to_dict(), again.digest, list(map(str, again.warnings))]
        if loaded.to_dict() != told[0]:
            told.append("the pickle differs from what was loaded")
        asking.note("pickle", subject, json.dumps(told, indent=1, sort_keys=True, default=str))
        paths = ["", *list(told[0])[:6]]
    except Exception as error:
        asking.note("pickle", subject, f"{type(error).__name__}: {error}")
        paths = [""]
    finally:
        os.chdir(asking.top)
    for path in paths:
        words = ["explain", name, path, "--kind", kind]
        asking.note("explain", f"{subject} {path}", "".join(asking.run(words, tree, env)))


def ask_about_opens(asking: Asking) -> None:
    """The files that a check opens and the folders it lists, in a process of its own."""
    for subject in OPENED if asking.wants("opens") else ():
        command = [sys.executable, "-P", "-s", "-c", _OPENS, subject]
        done = subprocess.run(command, cwd="examples", capture_output=True, text=True, check=False)
        counts = re.findall(r"^\d+ (?:open|listdir|scandir) .+$", done.stdout, re.MULTILINE)
        asking.note("opens", subject, "\n".join(counts) or done.stderr)


# ------------------------------------------------------------------------------ the language server


class Editor:
    """A client of the language server, which answers whatever the server asks with null."""

    def __init__(self, folder: Path, capabilities: dict[str, Any]) -> None:
        command = [sys.executable, "-P", "-s", "-m", "equipage", "lsp"]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=folder, **streams)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input: IO[bytes] = self.process.stdin
        self.output: IO[bytes] = self.process.stdout
        self.number = 0
        self.said: list[str] = []
        params = {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
        self.ask("initialize", params)
        self.tell("initialized", {})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.input.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def messages(self) -> Iterator[dict[str, Any]]:
        """What the server sends, until it leaves."""
        while header := self.output.readline():
            length = int(header.split(b":")[1])
            while self.output.readline().strip():
                pass
            message: dict[str, Any] = json.loads(self.output.read(length))
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            yield message

    def ask(self, method: str, params: Any, title: str = "") -> Any:
        """The result of a request, noted."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        for message in self.messages():
            if message.get("id") == self.number and "method" not in message:
                answer = message.get("result", message.get("error"))
                text = json.dumps(answer, indent=1, sort_keys=True)
                # A client gives it back and never reads it.
                text = re.sub(r'"resultId": "\w+"', '"resultId": "…"', text)
                self.said.append(f"{method} {title}\n{text}")
                return answer
        raise EOFError(f"the server left before it answered {method}")

    def await_findings(self, uri: str, version: int) -> None:
        """Note what is published about a version of a text."""
        for message in self.messages():
            params = message.get("params") or {}
            if params.get("uri") == uri and params.get("version") == version:
                self.said.append(json.dumps(params, indent=1, sort_keys=True))
                return

    def open(self, path: Path) -> dict[str, Any]:
        item = {"uri": path.as_uri(), "text": path.read_text(), "version": 1, "languageId": ""}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return {"uri": item["uri"]}

    def change(self, uri: str, text: str) -> None:
        changes = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", changes)

    def leave(self) -> str:
        """End the server; returns all that was noted."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        for _ in self.messages():
            pass
        return "\n".join([*self.said, f"exit {self.process.wait()}"])


def places_in(text: str) -> Iterable[dict[str, int]]:
    """Up to 12 places of a text: in the first word of a line and at its end, by turns."""
    lines = [(number, line) for number, line in enumerate(text.splitlines()) if line.strip()]
    for turn, (number, line) in enumerate(lines[:: len(lines) // 12 + 1]):
        blank = len(line) - len(line.lstrip(" -"))
        yield {"line": number, "character": len(line) if turn % 2 else min(blank + 1, len(line))}


def converse(folder: Path, files: list[Path]) -> str:
    """A session of an editor that asks for findings and for everything at some places."""
    pulling: dict[str, Any] = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {}}}
    editor = Editor(folder, pulling)
    opened = {path: editor.open(path) for path in files}
    editor.ask("workspace/diagnostic", {"previousResultIds": []})
    for path, document in opened.items():
        text = path.read_text()
        about = {"textDocument": document}
        found = editor.ask("textDocument/diagnostic", about, path.name)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}
        context = {"diagnostics": (found or {}).get("items", [])}
        editor.ask("textDocument/codeAction", {**about, "range": whole, "context": context})
        for place in places_in(text):
            here = {**about, "position": place}
            title = f"{path.name}:{place['line']}:{place['character']}"
            for method in ("hover", "completion", "definition", "prepareRename"):
                editor.ask(f"textDocument/{method}", here, title)
            with_own = {**here, "context": {"includeDeclaration": True}}
            editor.ask("textDocument/references", with_own, title)
            editor.ask("textDocument/rename", {**here, "newName": "renamed"}, title)
        editor.change(document["uri"], "\n".join(text.splitlines()[:-2]) + "\n")
        editor.ask("textDocument/diagnostic", about, path.name)
    return editor.leave()


def watch(folder: Path, path: Path) -> str:
    """A session of an editor that gets the findings, before and after an edit."""
    editor = Editor(folder, {})
    uri = editor.open(path)["uri"]
    editor.await_findings(uri, 1)
    editor.change(uri, "\n".join(path.read_text().splitlines()[:-2]) + "\n")
    editor.await_findings(uri, 2)
    return editor.leave()


def ask_language_server(asking: Asking) -> None:
    for name in EDITED if asking.wants("lsp") else ():
        folder = asking.top / "examples" / name
        found = asking.data("check", ".", folder=f"examples/{name}").get("files", ())
        files = [folder / each["path"] for each in found][:4]
        try:
            asking.note("lsp", f"{name} asks", converse(folder, files))
            asking.note("lsp", f"{name} told", watch(folder, files[0]))
        except (EOFError, OSError, IndexError, ValueError) as error:
            asking.note("lsp", f"{name} failed", f"{type(error).__name__}: {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask one tree everything that is compared.")
    parser.add_argument("answers", help="the file to write")
    parser.add_argument("--only", default="", help="ask only questions with this word")
    options = parser.parse_args()
    asking = Asking(options.only)
    material = json.loads(Path("material.json").read_text())
    ask_about_equipage(asking)
    ask_about_opens(asking)
    ask_language_server(asking)
    for tree in material["trees"]:
        ask_about_tree(asking, tree, {**TREE, **LARGE})
        for each in asking.data("check", ".", folder=tree).get("files", ()):
            if each["kind"]:
                ask_about_file(asking, tree, each["path"], each["kind"])
    for repository in material["repositories"]:
        for words in ([], ["--json"], ["-f", "markdown", "--fail-on", "widened"]):
            words = ["diff", "HEAD", *words]
            asking.ask("diff revision", f"{repository} {' '.join(words)}", words, repository)
    for case in material["cases"]:
        ask_about_tree(asking, case["tree"], TREE)
        how = (case[each] for each in ("entry", "kind", "env", "options"))
        ask_about_file(asking, case["tree"], *how)
    import equipage

    told = {"version": equipage.__version__, "file": equipage.__file__, "answers": asking.answers}
    Path(options.answers).write_text(json.dumps(told), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
