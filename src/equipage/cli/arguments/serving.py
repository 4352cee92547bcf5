"""Arguments of the commands that run what was loaded."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import (
    Container,
    add_flag,
    add_list_option,
    add_loading_options,
    add_paths,
    command,
    whole_number,
)


@command(
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
        type=whole_number,
        default=0,
        metavar="N",
        help="listen on this port (default: any free one, which is printed)",
    )
    add_flag(serve, "--i-own-the-client", "allow a --host that other machines can reach")
    add_loading_options(serve, layers=False)
    _add_tool_options(serve.add_argument_group("options for tools and skills"))
    _add_fault_options(serve.add_argument_group("options for server configurations"))


def _add_tool_options(group: Container) -> None:
    """Options that only tools and skills know."""
    _add_trust_options(group)
    add_flag(group, "--dry-run", "print what would be served, and what would be enforced")
    add_flag(group, "--watch", "serve changed files once they are valid (needs watchfiles)")
    group.add_argument(
        "--names",
        choices=("dotted", "plain"),
        default="dotted",
        help="plain: replace the dots in names of tools, which some clients do not accept",
    )
    group.add_argument(
        "--concurrency",
        type=whole_number,
        metavar="N",
        help="calls at once (default: 2 per processor)",
    )
    add_flag(
        group, "--reuse", "let deterministic Python tools serve several calls with one process"
    )
    add_flag(group, "--oversize", "serve skills that are larger than clients must accept")
    group.add_argument("--log", metavar="FILE", help="append one line of JSON per call to FILE")
    group.add_argument(
        "--token-file", metavar="FILE", help="write the token for http clients to FILE"
    )
    add_flag(group, "--no-token", "accept http clients without a token")
    add_list_option(
        group, "--host-name", "NAME", "a name that http clients may address; repeatable"
    )


def _add_trust_options(group: Container) -> None:
    """What must be said before anything is executed."""
    add_list_option(
        group, "--allow", "KIND", "execution kinds that may run: python,node,php,cli,http"
    )
    group.add_argument(
        "--isolation",
        choices=("strict", "best", "none"),
        default="strict",
        help="strict: refuse tools whose limits cannot be enforced here (default)",
    )
    add_list_option(group, "--lock", "LOCK", "serve only what LOCK has; repeatable")
    add_flag(group, "--unlocked", "run tools without a lock, after a question")
    add_flag(group, "--yes", "with --unlocked: do not ask")
    add_flag(group, "--allow-private", "let http tools reach this machine and its network")


@command(
    "run",
    "run one tool once",
    "Run TOOL and print what it returns, as JSON. TOOL is a file, or an id among the packs under "
    "PATH. Exit codes: 0 done, 1 the tool failed, 2 wrong usage or not trusted.",
    examples=(("equipage run count.tool.yaml --input @in.json", "one call, arguments in a file"),),
)
def _run(run: argparse.ArgumentParser) -> None:
    run.add_argument("tool", metavar="TOOL", help="a *.tool.yaml file, or the id of a tool")
    add_paths(run)
    run.add_argument(
        "--input",
        default="{}",
        metavar="JSON",
        help="the arguments: JSON, @FILE, or - for standard input (default: {})",
    )
    _add_trust_options(run.add_argument_group("trust options"))
    add_loading_options(run, layers=False)


@command(
    "expect",
    "judge a stored trace of a test server",
    "Judge what a client did by the TRACE that `equipage serve --trace` wrote, as `--expect` does "
    "when a run ends. Exit codes: 0 every expectation is met, 1 one is not, 2 wrong usage.",
    runs="serve:run_expect",
    examples=(("equipage expect trace.jsonl expect.yaml", "after the run, in CI for example"),),
)
def _expect(expect: argparse.ArgumentParser) -> None:
    expect.add_argument("trace", metavar="TRACE", help="the trace, as JSON lines")
    expect.add_argument("file", metavar="FILE", help="the expectations, a YAML list")


def _add_fault_options(group: Container) -> None:
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
    group.add_argument(
        "--seed", type=whole_number, metavar="N", help="make everything random repeatable"
    )
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
    add_list_option(group, "--env", "NAME", "let templates see this variable; repeatable")
    add_flag(group, "--allow-handlers", "let the file run programs and call web services")
    add_list_option(group, "--handler-host", "HOST", "allow web services on HOST; repeatable")
    group.add_argument("--max-delay", metavar="DURATION", help="the longest wait (default: 10m)")
    for name, summary in (("frame", "one message"), ("run", "the whole run")):
        default = "100mb" if name == "frame" else "1gb"
        group.add_argument(
            f"--max-{name}-bytes",
            metavar="SIZE",
            help=f"the most bytes of {summary} (default: {default})",
        )
