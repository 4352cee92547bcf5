"""Programs side by side on one tree: processor time, time, peak memory and files examined."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import peers

#: A program that takes longer on a tree is ended, and gets no second round.
LONGEST = 90.0


@dataclass
class Measured:
    """What a program took for a tree; the least of several runs."""

    cpu: float = float("inf")
    wall: float = float("inf")
    memory: float = 0.0
    files: int = 0
    ended: bool = False

    @property
    def per_file(self) -> float:
        return self.cpu / max(1, self.files)


def run(command: list[str], tree: Path, peer: peers.Peer, so_far: Measured) -> None:
    """Run a program once; its exit code says what it found, and does not matter."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=tree, stdout=output, stderr=subprocess.STDOUT)
        while True:
            done, _, usage = os.wait4(process.pid, os.WNOHANG)
            wall = time.perf_counter() - started
            if done:
                break
            if wall > LONGEST:
                process.kill()
                so_far.ended = True
            time.sleep(0.005)
        process.returncode = 0  # it was waited for
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    so_far.cpu = min(so_far.cpu, usage.ru_utime + usage.ru_stime)
    so_far.wall = min(so_far.wall, wall)
    so_far.memory = max(so_far.memory, usage.ru_maxrss / 1024)
    so_far.files = max(so_far.files, peer.examined(text, tree))


def compare(programs: list[peers.Peer], tree: Path, rounds: int) -> dict[str, Measured]:
    """Every program on one tree, in turn."""
    found = {each.name: Measured() for each in programs}
    for _ in range(rounds):
        for each in programs:
            if not found[each.name].ended:
                each.prepare(tree)
                run(each.command(tree), tree, each, found[each.name])
    return found


def ours(program: str, name: str, *options: str) -> peers.Peer:
    """The command, with these options."""
    command = [program, "check", "--exit-zero", "-f", "json", *options, "."]

    def examined(output: str, _tree: Path) -> int:
        return output.count('"kind":')

    return peers.Peer(name, lambda _: command, examined)
