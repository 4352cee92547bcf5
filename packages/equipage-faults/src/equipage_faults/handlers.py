"""Handlers: programs and web services that make an answer. They run only where a flag allows it.

A program gets an argument vector, never a shell, and a small environment of its own. A web service
must be on this machine unless the flag names its host.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from equipage.formats.server.model import CommandHandler, HttpHandler
from equipage_faults.answers import HandlerCall
from equipage_faults.wire import encode

#: The most bytes of a reply.
REPLY_LIMIT = 10 * 1024 * 1024
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
#: What a program needs to start at all.
_INHERITED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")

Reply = dict[str, Any] | str


class _TooLarge(Exception):
    pass


def make_asker(env: Mapping[str, str], hosts: frozenset[str]) -> Callable[[HandlerCall], Reply]:
    """Asks a handler; the value is its reply, or text that says what went wrong."""

    def ask(question: HandlerCall) -> Reply:
        handler = question.handler
        try:
            if isinstance(handler, CommandHandler):
                data = _run(handler, question, env)
            else:
                data = _post(handler, question, LOOPBACK | hosts)
            reply = msgspec.json.decode(data)
        except (subprocess.TimeoutExpired, TimeoutError):
            return "the handler took too long"
        except _TooLarge:
            return "the handler replied with too many bytes"
        except msgspec.MsgspecError:
            return "the handler replied with something else than JSON"
        except (OSError, ValueError, http.client.HTTPException, RecursionError) as problem:
            return f"the handler failed: {type(problem).__name__}"
        return reply if isinstance(reply, dict) else "the handler replied with no JSON object"

    return ask


def _run(handler: CommandHandler, question: HandlerCall, env: Mapping[str, str]) -> bytes:
    """Standard output of a program that gets the question as its standard input."""
    own = {name: env[name] for name in _INHERITED if name in env}
    own |= {name: question.fill(value) for name, value in handler.env.items()}
    with subprocess.Popen(
        handler.cmd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=handler.working_dir,
        env=own,
        start_new_session=True,  # so that its children end with it
    ) as process:
        try:
            data, _ = process.communicate(encode(question.payload), handler.timeout_ms / 1000)
        except BaseException:
            _end(process)
            raise
    if len(data) > REPLY_LIMIT:
        raise _TooLarge
    if process.returncode:
        raise ValueError(f"exit code {process.returncode}")
    return data


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and everything it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(0.5)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue


def _post(handler: HttpHandler, question: HandlerCall, hosts: frozenset[str]) -> bytes:
    """The body that a web service answers with. Redirects are not followed."""
    url = urlsplit(handler.url)
    if url.hostname not in hosts:
        raise ValueError(f"host {url.hostname} is not allowed")
    sort = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = sort(url.hostname, url.port, timeout=handler.timeout_ms / 1000)
    headers = {name: question.fill(value) for name, value in handler.headers.items()}
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        headers = {"Content-Type": "application/json", **headers}
        connection.request("POST", target, encode(question.payload), headers)
        answer = connection.getresponse()
        data = answer.read(REPLY_LIMIT + 1)
    finally:
        connection.close()
    if len(data) > REPLY_LIMIT:
        raise _TooLarge
    if answer.status != 200:
        raise ValueError(f"status {answer.status}")
    return data
