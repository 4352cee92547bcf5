"""The commands and their arguments; `parser` reads them.

This module is light: `equipage --help` imports little else.
"""

from __future__ import annotations

import argparse

from equipage.cli.parser import Parser, Version, command_parsers, examples_of

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    # argparse keeps the names of these two types private.
    Commands = Any
    Container = Any

# The first format of a command is its default.
FORMATS = ("text", "json")
REPORTS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown")
COLOURS = ("auto", "always", "never")
# shtab knows more shells; the tests run these.
SHELLS = ("bash", "zsh", "fish")


def parser(wanted: str | None = None) -> Parser:
    """The parser of every command, or of the `wanted` one alone, which is faster to build."""
    root = Parser(
        prog="equipage",
        description="Load, compose, check and freeze the configuration of AI agents.",
        epilog="Run `equipage help COMMAND` for the options and examples of a command. Exit codes: "
        "0 no errors, 1 errors found, 2 wrong usage or nothing to do, 3 a bug in equipage.",
    )
    root.add_argument(
        "-V",
        "--version",
        action=Version,
        nargs=0,
        help="print the version and the YAML parser in use",
    )
    root.add_argument(
        "--color", choices=COLOURS, default="auto", help="color the output (default: auto)"
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", parser_class=Parser, prog="equipage"
    )
    for name, add in _COMMANDS.items():
        if wanted is None or name == wanted:
            add(commands)
    return root


def command_in(arguments: Sequence[str]) -> str | None:
    """The command in the arguments; None if the first word is not a command."""
    words = iter(arguments)
    for word in words:
        if word == "--color":
            next(words, None)  # skip its value
        elif not word.startswith("-"):
            return word if word in _COMMANDS else None
    return None


#: What adds each command and its arguments, by its name, in the order of the help.
_COMMANDS: dict[str, Callable[[Commands], None]] = {}


def _command(
    name: str,
    summary: str,
    description: str,
    *,
    runs: str | None = None,
    examples: Sequence[tuple[str, str]] = (),
) -> Callable[[Callable[[argparse.ArgumentParser], None]], None]:
    """Declare a command by the function that adds its arguments.

    `runs` names the module and the function that run it, `examples` are command lines and what
    each does.
    """

    def declare(add_arguments: Callable[[argparse.ArgumentParser], None]) -> None:
        def add(commands: Commands) -> None:
            epilog = examples_of(examples) if examples else None
            command = commands.add_parser(
                name, help=summary, description=description, epilog=epilog
            )
            command.set_defaults(runs=runs or f"{name}:run")
            # `--color` is allowed before and after the command. SUPPRESS as the default keeps the
            # first one; SUPPRESS as the help shows the option once, in the help of the program.
            hidden = argparse.SUPPRESS
            command.add_argument("--color", choices=COLOURS, default=hidden, help=hidden)
            add_arguments(command)
            # All options in the usage line would fill half a screen; they are listed below it.
            words = (
                {"?": "[{}]", "*": "[{} ...]", "+": "{} [...]"}.get(str(each.nargs), "{}").format(
                    each.metavar
                )
                for each in command._actions
                if not each.option_strings
            )
            command.usage = " ".join((f"equipage {name} [options]", *words))

        _COMMANDS[name] = add

    return declare


@_command(
    "check",
    "check agent configuration",
    "Find and check every agent configuration under PATH. Files that .gitignore or the settings "
    "exclude are left out, unless you name them.",
    examples=(
        ("equipage check", "check everything below this folder"),
        ("equipage check --fix", "apply safe fixes and report the rest"),
        ("equipage check -f concise | less", "one line for each finding"),
        ("equipage check -f sarif -o out.sarif", "a report for code scanning"),
        ("equipage check --write-baseline", "from now on, report only new findings"),
        ("equipage check --stdin-filename a.md -", "check standard input as a.md"),
    ),
)
def _check(check: argparse.ArgumentParser) -> None:
    _paths(check)
    choosing = check.add_argument_group("choosing files")
    _list_of(choosing, "--exclude", "GLOB", "leave out files and folders that match; repeatable")
    _flag(choosing, "--isolated", "ignore the settings of projects and what git ignores")
    _flag(choosing, "--force-exclude", "leave out excluded files even if you name them")
    choosing.add_argument(
        "--files-from", metavar="FILE", help="also check the files that FILE lists, one per line"
    )
    choosing.add_argument(
        "--stdin-filename", metavar="NAME", help="check standard input as the text of NAME"
    )
    reporting = check.add_argument_group("reporting")
    _format(reporting, REPORTS)
    _output(reporting)
    _flag(reporting, "--quiet", "report errors only", short="-q")
    _flag(reporting, "--verbose", "also name every file, with its kind", short="-v")
    _flag(reporting, "--statistics", "count the findings of each code instead of printing them")
    reporting.add_argument(
        "--limit",
        type=_whole,
        metavar="N",
        help="print at most N findings, 0 for all (default: 100 on a terminal, else all)",
    )
    deciding = check.add_argument_group("what counts")
    _list_of(deciding, "--select", "CODE", "report only these codes; separate with commas")
    _list_of(deciding, "--ignore", "CODE", "leave out these codes; separate with commas")
    _flag(deciding, "--strict", "exit 1 on warnings, too")
    deciding.add_argument(
        "--max-warnings", type=_whole, metavar="N", help="exit 1 if there are more than N warnings"
    )
    _flag(deciding, "--exit-zero", "exit 0 even if there are errors")
    deciding.add_argument(
        "--baseline", metavar="FILE", help="leave out the findings that FILE records"
    )
    _flag(deciding, "--no-baseline", "report known findings, too")
    _flag(deciding, "--write-baseline", "record all findings in the baseline, then report none")
    fixing = check.add_argument_group("fixing")
    either = fixing.add_mutually_exclusive_group()
    _flag(either, "--fix", "apply safe fixes, then report what is left")
    _flag(either, "--diff", "print what --fix would change; exit 1 if it would change anything")
    _flag(
        fixing,
        "--unsafe-fixes",
        "also apply fixes that may change what an agent may do or says; review the result",
    )
    running = check.add_argument_group("running")
    running.add_argument(
        "-j",
        "--jobs",
        type=_processes,
        default=0,
        metavar="N",
        help="check with N processes (default: depends on the number of files)",
    )
    _flag(running, "--watch", "check again whenever a file changes (needs watchfiles)")
    _loading(check)


def _processes(written: str) -> int:
    if written == "auto":
        return 0  # the check decides
    if not written.isdecimal():
        raise argparse.ArgumentTypeError(f"`{written}` is not a number of processes")
    return int(written)


def _whole(written: str) -> int:
    # Python refuses to read very long numbers.
    if not (written.isascii() and written.isdecimal() and len(written) < 20):
        raise argparse.ArgumentTypeError(f"`{written}` is not a whole number")
    return int(written)


@_command(
    "show",
    "print a configuration after loading",
    "Load, compose and check FILE, then print the resulting configuration.",
    runs="show:show",
    examples=(
        ("equipage show server.yaml", "the configuration after includes and variables"),
        ("equipage show server.yaml tools[0]", "one value of it"),
        ("equipage show server.yaml --annotate", "where each value comes from"),
        ("equipage show server.yaml --defaults", "also what no file sets"),
    ),
)
def _show(show: argparse.ArgumentParser) -> None:
    _file(show)
    show.add_argument(
        "path", nargs="?", metavar="PATH", help="print only this value, such as tools[0].tool.name"
    )
    _loading(show)
    _format(show, ("yaml", "json"))
    _output(show)
    _flag(show, "--annotate", "add the file and line that each value comes from")
    _flag(show, "--defaults", "add the fields that no file sets, with their defaults")
    _show_env(show)


@_command(
    "explain",
    "show where a value comes from",
    "Show which file sets the value at PATH, what it replaced, and how it got there.",
    runs="show:explain",
    examples=(
        ("equipage explain server.yaml tools[0]", "which files set this value"),
        ("equipage explain .claude/agents/a.md tools", "what the agent may use, and why"),
    ),
)
def _explain(explain: argparse.ArgumentParser) -> None:
    _file(explain)
    explain.add_argument("path", metavar="PATH", help="a value, such as tools[0].tool.name")
    _loading(explain)
    _format(explain, FORMATS)
    _output(explain)
    _show_env(explain)


@_command(
    "list",
    "list agents, tools and servers",
    "List the agents, tools and servers under PATH, with the program that loads each, its layer "
    "and what shadows it.",
    runs="show:listing",
    examples=(
        ("equipage list", "everything below this folder, and your own agents"),
        ("equipage list --portable", "which other programs can read each agent"),
        ("equipage list --json", "as data for other programs"),
    ),
)
def _list(listing: argparse.ArgumentParser) -> None:
    _paths(listing)
    _flag(
        listing,
        "--portable",
        "show which programs can read each agent unchanged, and what prevents the others",
    )
    _loading(listing, layers=False)
    _format(listing, FORMATS)
    _output(listing)


@_command(
    "schema",
    "write a JSON Schema for editors",
    "Write the JSON Schema of KIND, for editors and other programs.",
    runs="documents:schema",
    examples=(
        ("equipage schema claude-agent -o agent.schema.json", "write it to a file"),
        ("equipage kinds", "every KIND there is"),
    ),
)
def _schema(schema: argparse.ArgumentParser) -> None:
    schema.add_argument("kind", metavar="KIND", help="a kind of configuration")
    _output(schema)


@_command(
    "graph",
    "draw what includes and uses what",
    "Draw the files below PATH, what they include, and the agents, skills, MCP servers and tools "
    "that they name. A name that nothing defines is drawn as missing.",
    runs="documents:graph",
    examples=(
        ("equipage graph", "a tree in the terminal"),
        ("equipage graph server.yaml -f mermaid", "a chart for a Markdown page"),
        ("equipage graph -f svg -o graph.svg", "a picture (needs Graphviz)"),
    ),
)
def _graph(graph: argparse.ArgumentParser) -> None:
    _paths(graph)
    _loading(graph, layers=False)
    formats = ("tree", "mermaid", "dot", "svg", "json")
    _format(graph, formats, note="; svg needs Graphviz")
    _output(graph)


@_command(
    "diff",
    "compare the meaning of two configurations",
    "Compare what A and B mean. Each is a file, a folder or a git revision (HEAD~1, "
    "main:server.yaml). With one revision, compare it with the files here. Permissions come "
    "first, the widest change at the top. Exit codes: 0 same, 1 different, 2 cannot be compared.",
    examples=(
        ("equipage diff HEAD", "what your changes mean"),
        ("equipage diff main --fail-on widened", "fail only on wider permissions"),
        ("equipage diff old.yaml new.yaml", "two files"),
        ("equipage diff v1:server.yaml server.yaml", "a file at a revision"),
    ),
)
def _diff(diff: argparse.ArgumentParser) -> None:
    diff.add_argument("a", metavar="A", help="a file, a folder or a revision")
    diff.add_argument(
        "b", nargs="?", metavar="B", help="what to compare it with (default: the files here)"
    )
    diff.add_argument(
        "--fail-on",
        choices=("any", "widened"),
        default="any",
        help="exit 1 on any difference, or only if a permission is widened (default: any)",
    )
    _loading(diff, layers=False)
    _format(diff, FORMATS)
    _output(diff)
    _show_env(diff)


@_command(
    "lock",
    "record what a configuration is made of",
    "Write a lock of FILE: every source with its hash, every environment variable by name, and "
    "the digest of the result.",
    runs="documents:lock",
    examples=(("equipage lock server.yaml -o server.lock", "write the lock to a file"),),
)
def _lock(lock: argparse.ArgumentParser) -> None:
    _file(lock)
    _loading(lock)
    _output(lock)


@_command(
    "verify",
    "compare a configuration with its lock",
    "List the sources that changed since the lock was written. Exit codes: 0 the digest is the "
    "same, 1 it changed.",
    runs="documents:verify",
    examples=(("equipage verify server.yaml --lock server.lock", "what changed since then"),),
)
def _verify(verify: argparse.ArgumentParser) -> None:
    _file(verify)
    verify.add_argument("--lock", metavar="LOCK", required=True, help="the lock to compare with")
    _loading(verify)
    _output(verify)


@_command(
    "serve",
    "serve tools and skills, or run a test server",
    "Serve PATH over MCP. Toolpacks become tools, folders with a SKILL.md become skills; a server "
    "configuration becomes a test server that misbehaves as it says, for tests of your own "
    "client. Exit codes: 0 ended, 1 the configuration has errors, ended the run or an expectation "
    "was not met, 2 wrong usage or not trusted, 130 and 143 by signal.",
    examples=(
        ("equipage serve server.yaml", "a test server over standard input and output"),
        ("equipage serve server.yaml --transport http", "over HTTP, for clients on this machine"),
    ),
)
def _serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("files", nargs="+", metavar="PATH", help="files and folders to serve")
    serve.add_argument(
        "--transport",
        choices=("stdio", "http"),
        default="stdio",
        help="how clients connect (default: stdio)",
    )
    serve.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen here (default: 127.0.0.1)"
    )
    serve.add_argument(
        "--port",
        type=_whole,
        default=0,
        metavar="N",
        help="listen on this port (default: any free one, which is printed)",
    )
    _flag(serve, "--i-own-the-client", "allow a --host that other machines can reach")
    _loading(serve, layers=False)
    _serve_tools(serve.add_argument_group("options for tools and skills"))
    _serve_faults(serve.add_argument_group("options for server configurations"))


def _serve_tools(group: Container) -> None:
    """Options that only tools and skills know."""
    _trust(group)
    _flag(group, "--dry-run", "print what would be served, and what would be enforced")
    _flag(group, "--watch", "serve changed files once they are valid (needs watchfiles)")
    group.add_argument(
        "--names",
        choices=("dotted", "plain"),
        default="dotted",
        help="plain: replace the dots in names of tools, which some clients do not accept",
    )
    group.add_argument(
        "--concurrency", type=_whole, metavar="N", help="calls at once (default: 2 per processor)"
    )
    _flag(group, "--reuse", "let deterministic Python tools serve several calls with one process")
    _flag(group, "--oversize", "serve skills that are larger than clients must accept")
    group.add_argument("--log", metavar="FILE", help="append one line of JSON per call to FILE")
    group.add_argument(
        "--token-file", metavar="FILE", help="write the token for http clients to FILE"
    )
    _flag(group, "--no-token", "accept http clients without a token")
    _list_of(group, "--host-name", "NAME", "a name that http clients may address; repeatable")


def _trust(group: Container) -> None:
    """What must be said before anything is executed."""
    _list_of(group, "--allow", "KIND", "execution kinds that may run: python,node,php,cli,http")
    group.add_argument(
        "--isolation",
        choices=("strict", "best", "none"),
        default="strict",
        help="strict: refuse tools whose limits cannot be enforced here (default)",
    )
    _list_of(group, "--lock", "LOCK", "serve only what LOCK has; repeatable")
    _flag(group, "--unlocked", "run tools without a lock, after a question")
    _flag(group, "--yes", "with --unlocked: do not ask")
    _flag(group, "--allow-private", "let http tools reach this machine and its network")


@_command(
    "run",
    "run one tool once",
    "Run TOOL and print what it returns, as JSON. TOOL is a file, or an id among the packs under "
    "PATH. Exit codes: 0 done, 1 the tool failed, 2 wrong usage or not trusted.",
    examples=(("equipage run count.tool.yaml --input @in.json", "one call, arguments in a file"),),
)
def _run(run: argparse.ArgumentParser) -> None:
    run.add_argument("tool", metavar="TOOL", help="a *.tool.yaml file, or the id of a tool")
    _paths(run)
    run.add_argument(
        "--input",
        default="{}",
        metavar="JSON",
        help="the arguments: JSON, @FILE, or - for standard input (default: {})",
    )
    _trust(run.add_argument_group("trust options"))
    _loading(run, layers=False)


def _serve_faults(group: Container) -> None:
    """Options that only a run of a server configuration knows."""
    group.add_argument(
        "--era",
        choices=("auto", "25", "26"),
        default="auto",
        help="the protocol: 25 has a handshake (2025-11-25 and before), 26 none (2026-07-28)",
    )
    group.add_argument(
        "--state-scope",
        choices=("per_connection", "global"),
        help="share one phase among clients, or not, whatever the file says",
    )
    group.add_argument("--behavior", metavar="DELIVERY", help="deliver every answer this way")
    group.add_argument("--seed", type=_whole, metavar="N", help="make everything random repeatable")
    group.add_argument(
        "--clock",
        choices=("real", "virtual"),
        default="real",
        help="virtual: never wait, and finish everything before the next message",
    )
    group.add_argument("--trace", metavar="FILE", help="write what happens to FILE, as JSON lines")
    group.add_argument(
        "--trace-bodies",
        choices=("none", "redacted", "full"),
        default="none",
        help="how much of the client's messages the trace has (default: none)",
    )
    group.add_argument(
        "--expect", metavar="FILE", help="exit 1 unless the client did what FILE says"
    )
    group.add_argument(
        "--for",
        dest="lasts",
        metavar="DURATION",
        help="end after this time, such as 30s (default: 1h for http)",
    )
    _list_of(group, "--env", "NAME", "let templates see this variable; repeatable")
    _flag(group, "--allow-handlers", "let the file run programs and call web services")
    _list_of(group, "--handler-host", "HOST", "allow web services on HOST; repeatable")
    group.add_argument("--max-delay", metavar="DURATION", help="the longest wait (default: 10m)")
    for name, summary in (("frame", "one message"), ("run", "the whole run")):
        default = "100mb" if name == "frame" else "1gb"
        group.add_argument(
            f"--max-{name}-bytes",
            metavar="SIZE",
            help=f"the most bytes of {summary} (default: {default})",
        )


@_command(
    "new",
    "create a first file",
    "Create a commented example of KIND that passes `equipage check`.",
    runs="documents:new",
    examples=(
        ("equipage new claude-agent reviewer", "write .claude/agents/reviewer.md"),
        ("equipage new server shop --stdout", "print it instead"),
    ),
)
def _new(new: argparse.ArgumentParser) -> None:
    new.add_argument("kind", metavar="KIND", help="a kind of configuration")
    new.add_argument("name", metavar="NAME", help="the name of what it configures")
    _flag(new, "--stdout", "write to standard output instead of a file")


@_command(
    "init",
    "set a project up",
    "Write settings for equipage, for pre-commit, for CI and for your editor, to suit what is "
    "found below this folder. On a terminal it asks before it writes each file; elsewhere it "
    "writes those that do not exist. It never changes a file that exists.",
    examples=(
        ("equipage init", "set up the project in this folder"),
        ("equipage init --dry-run", "print what it would write"),
    ),
)
def _init(init: argparse.ArgumentParser) -> None:
    _flag(init, "--dry-run", "print the files instead of writing them")
    _flag(init, "--yes", "do not ask", short="-y")


@_command(
    "kinds",
    "list what is read, and where it lives",
    "List every kind of configuration, the files it is recognised by and the program that reads "
    "them. With KIND, also its fields, and which of them restrict what an agent may do.",
    examples=(
        ("equipage kinds", "every kind"),
        ("equipage kinds claude-agent", "its files and fields"),
    ),
)
def _kinds(kinds: argparse.ArgumentParser) -> None:
    kinds.add_argument("kind", nargs="?", metavar="KIND", help="a kind of configuration")
    _format(kinds, FORMATS)
    _output(kinds)


@_command(
    "rule",
    "explain a finding and how to fix it",
    "Explain what CODE means and how to fix it. Without CODE, list all codes.",
    examples=(
        ("equipage rule unknown-field", "what this finding means"),
        ("equipage rule", "every code"),
    ),
)
def _rule(rule: argparse.ArgumentParser) -> None:
    rule.add_argument(
        "code", nargs="?", metavar="CODE", help="the code of a finding, such as unknown-field"
    )
    _format(rule, FORMATS)
    _output(rule)


@_command(
    "completion",
    "print a completion script for your shell",
    "Print a completion script (needs shtab).",
    runs="documents:completion",
    examples=(
        ('eval "$(equipage completion bash)"', "for bash, in ~/.bashrc"),
        ("equipage completion zsh > ~/.zfunc/_equipage", "for zsh"),
    ),
)
def _completion(completion: argparse.ArgumentParser) -> None:
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


@_command(
    "help",
    "show the help of a command",
    "Show the options and examples of COMMAND; without it, all commands.",
    examples=(("equipage help check", "the options of `check`"),),
)
def _help(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "about", nargs="?", choices=[*_COMMANDS], metavar="COMMAND", help="a command"
    )


def help_of(command: str | None) -> str:
    """The help of a command, or that of the program."""
    return (command_parsers(parser(command))[command] if command else parser()).format_help()


# Arguments that several commands share.


def _flag(command: Container, name: str, summary: str, *, short: str | None = None) -> None:
    names = (name,) if short is None else (short, name)
    command.add_argument(*names, action="store_true", help=summary)


def _list_of(command: Container, name: str, value: str, summary: str) -> None:
    command.add_argument(name, metavar=value, action="append", default=[], help=summary)


def _paths(command: Container) -> None:
    command.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)"
    )


def _file(command: Container) -> None:
    command.add_argument("file", metavar="FILE", help="the file to load")


def _loading(command: argparse.ArgumentParser, *, layers: bool = True) -> None:
    """Options of commands that load files.

    Those of single kinds are in the help of commands about one file and of `check`, which merge
    `layers`, too. The others take them, but do not repeat them.
    """
    group = command.add_argument_group("loading")
    group.add_argument("--kind", metavar="KIND", help="treat files as KIND instead of detecting it")
    _list_of(group, "--root", "DIR", "also allow references into DIR; repeatable")
    # A load of another kind ignores these.
    single = command.add_argument_group("options of single kinds") if layers else group
    _hideable(single, layers, "--library", "start $include paths at DIR (server)", metavar="DIR")
    summary = "read absolute paths outside the project (server)"
    _hideable(single, layers, "--allow-absolute", summary, action="store_true")
    summary = "allow no includes, files or environment variables (server)"
    _hideable(single, layers, "--embedded", summary, action="store_true")
    several: dict[str, Any] = {"action": "append", "default": []}
    summary = "also read files from DIR (blueprint); repeatable"
    _hideable(single, layers, "--include-root", summary, metavar="DIR", **several)
    summary = "the kind of agents that do not name one (blueprint)"
    _hideable(single, layers, "--default-agent-kind", summary, metavar="K")
    summary = "leave out your own user layer (profiles, settings)"
    _hideable(single, layers, "--local", summary, action="store_true")
    if layers:
        summary = "override a value of all layers (settings); repeatable"
        _list_of(single, "--config", "KEY=VALUE", summary)
    else:
        command.set_defaults(config=[])  # `request_of` reads it for every command


def _hideable(group: Container, shown: bool, name: str, summary: str, **settings: Any) -> None:
    group.add_argument(name, help=summary if shown else argparse.SUPPRESS, **settings)


def _format(
    command: Container, formats: Sequence[str], *, alias: bool = True, note: str = ""
) -> None:
    command.add_argument(
        "-f",
        "--output-format",
        choices=formats,
        metavar="FORMAT",
        type=lambda name: "full" if name == "text" and "full" in formats else name,
        default=formats[0],
        help=f"{', '.join(formats[:-1])} or {formats[-1]} (default: {formats[0]}){note}",
    )
    if alias:
        command.add_argument(
            "--json",
            dest="output_format",
            action="store_const",
            const="json",
            help="short for --output-format json",
        )


def _output(command: Container) -> None:
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE instead of standard output"
    )


def _show_env(command: Container) -> None:
    _flag(command, "--show-env", "print the values of environment variables instead of ${NAME}")
