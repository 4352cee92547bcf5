"""The arguments of `pack`, `push` and `pull`."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import command, flag


def _types(group: argparse.ArgumentParser) -> None:
    for name, what in (("artifact", "artifact"), ("files", "archive"), ("lock", "lock")):
        group.add_argument(f"--{name}-type", metavar="TYPE", help=f"the media type of the {what}")


def _talking(group: argparse.ArgumentParser) -> None:
    group.add_argument(
        "--auth",
        choices=("none", "docker", "env"),
        default="none",
        help="where to look for a password: nowhere (default), in what `docker login` kept, also "
        "with its helpers, or in EQUIPAGE_REGISTRY_USER and EQUIPAGE_REGISTRY_PASSWORD",
    )
    group.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="give up after this time (default: 60)",
    )
    flag(group, "--plain-http", "speak HTTP without encryption; usual only on this machine")


@command(
    "pack",
    "pack a locked workspace into one archive",
    "Write the files that equipage.lock holds, and the lock, as an archive of the OCI image "
    "layout. Refused if a file is not what was locked.",
    runs="shipping:pack",
    examples=(("equipage pack -o agents.tar", "for `equipage pull agents.tar DIR`, or `skopeo`"),),
)
def _pack(pack: argparse.ArgumentParser) -> None:
    pack.add_argument(
        "path", nargs="?", metavar="DIR", default=".", help="the project (default: .)"
    )
    pack.add_argument("-o", "--output", metavar="FILE", required=True, help="the archive to write")
    _types(pack)


@command(
    "push",
    "push a locked workspace to a registry",
    "Push the files that equipage.lock holds, and the lock, to an OCI registry as a plain "
    "artifact. Refused if a file is not what was locked.",
    runs="shipping:push",
    examples=(
        ("equipage push registry.example.org/team/agents:1.4.0", "push this project"),
        ("equipage push localhost:5000/agents:dev ../agents", "to a registry on this machine"),
    ),
)
def _push(push: argparse.ArgumentParser) -> None:
    push.add_argument("reference", metavar="HOST/NAME:TAG", help="where to push to")
    push.add_argument(
        "path", nargs="?", metavar="DIR", default=".", help="the project (default: .)"
    )
    _types(push)
    _talking(push)


@command(
    "pull",
    "pull a locked workspace from a registry",
    "Get a workspace from an OCI registry, or from an archive of `equipage pack`, and write it to "
    "DIR. Every digest and the lock are verified before anything is written; nothing is written "
    "outside DIR or over what is there.",
    runs="shipping:pull",
    examples=(
        ("equipage pull registry.example.org/team/agents:1.4.0 agents", "into a new folder"),
        ("equipage pull agents.tar agents --allowed-signers .signers", "also require a signature"),
    ),
)
def _pull(pull: argparse.ArgumentParser) -> None:
    pull.add_argument("reference", metavar="HOST/NAME:TAG", help="what to pull, or an archive")
    pull.add_argument("path", metavar="DIR", help="the folder to write to")
    pull.add_argument(
        "--allowed-signers",
        metavar="FILE",
        help="require a signature by one of the signers in FILE, see `man ssh-keygen`",
    )
    _talking(pull)
