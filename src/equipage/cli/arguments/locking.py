"""The arguments of the commands about locks."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import (
    FORMATS,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
    command,
)


@command(
    "lock",
    "record what a workspace is made of",
    "Write equipage.lock at the root of the project: for every agent, skill, tool, server and "
    "settings file its meaning, its sources, what it launches and what it may do.",
    runs="lock:run",
    examples=(
        ("equipage lock", "lock the project; commit the file"),
        ("equipage lock --sign ~/.ssh/id_ed25519", "sign the lock with an SSH key"),
        ("equipage lock --programs -o here.lock", "for `serve --lock` on this machine"),
    ),
)
def _lock(lock: argparse.ArgumentParser) -> None:
    add_paths(lock)
    add_flag(
        lock,
        "--programs",
        "also lock the programs of this machine that tools start, by their bytes",
    )
    lock.add_argument(
        "--sign", metavar="KEY", help="sign the lock with the SSH key KEY, by `ssh-keygen -Y sign`"
    )
    add_loading_options(lock, layers=False)
    add_output_option(lock)


@command(
    "verify",
    "compare a workspace with its lock",
    "Say what changed since the lock was written: sources, meaning, and what agents may do. Exit "
    "codes: 0 the meaning is the same, 1 it changed, 2 the lock cannot be used.",
    runs="lock:run_verify",
    examples=(
        ("equipage verify", "what changed since `equipage lock`"),
        ("equipage verify --frozen", "in CI: fail on any change, or without a lock"),
        ("equipage verify --allowed-signers .signers", "also require a signature"),
        ("equipage verify --lock here.lock", "another lock than equipage.lock"),
    ),
)
def _verify(verify: argparse.ArgumentParser) -> None:
    verify.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="a path in the project (default: .)"
    )
    verify.add_argument(
        "--lock", metavar="LOCK", help="the lock to compare with (default: equipage.lock)"
    )
    add_flag(verify, "--frozen", "exit 1 on any change, also of sources alone, and without a lock")
    verify.add_argument(
        "--allowed-signers",
        metavar="FILE",
        help="require a signature by one of the signers in FILE, see `man ssh-keygen`",
    )
    add_loading_options(verify, layers=False)
    add_format_option(verify, FORMATS)
    add_output_option(verify)
