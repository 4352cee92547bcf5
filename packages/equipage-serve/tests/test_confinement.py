"""What holds for a tool, by what its pack declares and what the machine can enforce."""

from __future__ import annotations

from typing import Any

import pytest

from equipage_serve.confinement import (
    Confinement,
    Level,
    Unservable,
    bubblewrap_command,
    confine,
    limits_of,
)
from equipage_serve.platform import Platform

FULL = Platform("linux", landlock=7, seccomp=True)
ROOT = Platform("linux", landlock=7, seccomp=True, root=True)
OLD = Platform("linux")
BUBBLE = Platform("linux", bwrap="/usr/bin/bwrap")
NO_FILTER = Platform("linux", landlock=7)
OTHER_MACHINE = Platform("linux", landlock=7, bwrap="/usr/bin/bwrap")
MAC, WINDOWS = Platform("darwin"), Platform("win32")
FORKS = {"subprocess": True}
NET = {"network": ["https"]}


def confined(
    kind: str, caps: dict[str, Any], platform: Platform, level: Level = "strict"
) -> Confinement:
    return confine(kind, caps, "/pack", platform, level)


@pytest.mark.parametrize("kind", ["python", "node", "php"])
def test_everything_that_is_not_declared_is_denied(kind: str) -> None:
    found = confined(kind, {}, FULL)
    assert (found.landlock, found.filter, found.network, found.forks) == (True, True, False, False)
    assert found.open == ()
    assert "no network" in found.enforced
    assert "no other processes" in found.enforced


#: kind, caps, platform, what `strict` cannot enforce
REFUSED = [
    ("python", {}, OLD, "no network"),
    ("python", {}, OLD, "writes only a folder"),
    ("python", {}, MAC, "no other processes"),
    ("python", FORKS, MAC, "no network"),
    ("python", {}, BUBBLE, "no other processes"),
    ("node", {}, OTHER_MACHINE, "no other processes"),
    ("python", {**FORKS, **NET}, NO_FILTER, "modes, owners and times"),
    ("php", {**FORKS, **NET}, BUBBLE, "no sockets but those of IPv4 and IPv6"),
    ("cli", FORKS, ROOT, "number of processes"),
    ("python", FORKS, ROOT, "number of processes"),
]


@pytest.mark.parametrize(("kind", "caps", "platform", "what"), REFUSED)
def test_strict_refuses_what_cannot_be_enforced(
    kind: str, caps: dict[str, Any], platform: Platform, what: str
) -> None:
    with pytest.raises(Unservable, match=what):
        confined(kind, caps, platform)
    best = confined(kind, caps, platform, "best")
    assert any(what in each for each in best.open), best.open


def test_a_cli_tool_must_say_that_it_starts_a_program() -> None:
    for level in ("strict", "best", "none"):
        with pytest.raises(Unservable, match="subprocess: true"):
            confined("cli", {}, FULL, level)  # type: ignore[arg-type]
    assert confined("cli", FORKS, FULL).forks


def test_the_network_is_on_or_off() -> None:
    """A protocol cannot be told from another for a process, and the plan says so."""
    found = confined("python", NET, FULL)
    assert found.network
    assert any("every protocol" in each for each in found.open)


def test_bubblewrap_where_landlock_and_seccomp_do_not_do() -> None:
    found = confined("php", FORKS, BUBBLE)
    assert found.bwrap == "/usr/bin/bwrap"
    assert not found.landlock
    assert not found.filter
    command = bubblewrap_command(found, ["/pack"], "/pack", "/tmp/home")
    assert "--unshare-all" in command
    assert "--share-net" not in command
    assert "--share-net" in bubblewrap_command(
        confined("php", {**FORKS, **NET}, BUBBLE, "best"), [], "/pack", "/h"
    )
    written = {"filesystem": {"read": ["data"], "write": ["out", "/var/x"]}, **FORKS}
    words = " ".join(bubblewrap_command(confined("php", written, BUBBLE), ["/pack"], "/pack", "/h"))
    assert "--ro-bind-try /pack/data /pack/data" in words
    assert "--bind-try /pack/out /pack/out --bind-try /var/x /var/x" in words


def test_no_tool_runs_on_windows() -> None:
    for level in ("strict", "best", "none"):
        with pytest.raises(Unservable, match="Linux and macOS"):
            confined("python", {}, WINDOWS, level)  # type: ignore[arg-type]
    assert confined("http", NET, WINDOWS).network


def test_none_promises_only_limits() -> None:
    found = confined("python", {}, FULL, "none")
    assert found.summary == "none"
    assert found.open == ("files", "network", "other processes")


def test_limits_are_exactly_these() -> None:
    mib = 1024 * 1024
    plain = {"CPU": 6, "FSIZE": 64 * mib, "NOFILE": 256, "CORE": 0, "AS": 1024 * mib}
    assert limits_of("python", 5000, confined("python", {}, FULL), root=False) == plain
    assert limits_of("python", 4001, confined("python", {}, FULL), root=True) == plain
    assert limits_of("python", 999, confined("python", {}, FULL), root=False, calls=10) == {
        **plain,
        "CPU": 20,
    }
    starting = confined("php", FORKS, FULL)
    assert limits_of("php", 5000, starting, root=False) == {**plain, "NPROC": 0}
    bubbled = confined("php", FORKS, BUBBLE)
    assert limits_of("php", 5000, bubbled, root=False) == plain


def test_a_bubble_is_exactly_this() -> None:
    made = bubblewrap_command(confined("php", FORKS, BUBBLE), ["/pack"], "/pack", "/h")
    start = "/usr/bin/bwrap --unshare-all --die-with-parent --new-session --proc /proc --dev /dev"
    assert " ".join(made).startswith(f"{start} --tmpfs /tmp --dir /h --ro-bind-try /pack /pack ")
    assert made[-3:] == ["--chdir", "/pack", "--"]
    bound = {made[at + 1] for at, word in enumerate(made) if word == "--ro-bind-try"}
    assert {"/usr", "/bin", "/lib", "/etc/ld.so.cache"} <= bound
    assert not {each for each in bound if each.startswith(("/dev", "/proc", "/home", "/etc/ssl/c"))}
    assert "/etc/resolv.conf" not in bound
    online = confined("php", {**FORKS, **NET}, BUBBLE, "best")
    told = bubblewrap_command(online, [], "/pack", "/h")
    assert "/etc/resolv.conf" in told


def test_limits() -> None:
    strict = confined("python", {}, FULL)
    assert limits_of("python", 2500, strict, root=False)["CPU"] == 4
    assert "AS" not in limits_of("node", 1000, strict, root=False)
    assert "NPROC" not in limits_of("python", 1000, strict, root=False)
    forking = confined("cli", FORKS, FULL)
    assert "NPROC" in limits_of("cli", 1000, forking, root=False)
    assert "NPROC" not in limits_of("cli", 1000, forking, root=True)


def test_means_in_a_few_words() -> None:
    assert confined("python", {}, FULL).summary == "landlock, seccomp"
    assert confined("php", FORKS, BUBBLE).summary == "bubblewrap"
    assert confined("python", {}, FULL, "none").summary == "none"


def test_every_plan_is_exactly_this() -> None:
    """What is enforced and what is open, in words that people see; by caps and by machine."""
    limits = "time, memory and size of files"
    own = "reads its code and its own folder but for hidden files and secrets"
    files = f"{own}, writes only a folder that is removed after the call"
    network = "the network is on, for every protocol over IPv4 and IPv6, also to this machine"
    sockets = "no sockets but those of IPv4 and IPv6"
    assert confined("python", {}, FULL) == Confinement(
        "strict",
        landlock=True,
        filter=True,
        enforced=(limits, files, "no network", "no other processes"),
    )
    caps = {"filesystem": {"read": ["a", "/b"], "write": ["c", "d/../e"]}, **FORKS, **NET}
    named = (
        f"{own}, reads /pack/a, /b, /pack/c, /pack/e, "
        "writes only /pack/c, /pack/e, a folder that is removed after the call"
    )
    assert confined("python", caps, ROOT, "best") == Confinement(
        "best",
        landlock=True,
        filter=True,
        network=True,
        forks=True,
        read=("/pack/a", "/b"),
        write=("/pack/c", "/pack/e"),
        enforced=(limits, named, sockets),
        open=(network, "the number of processes (nothing limits it for root)"),
    )
    assert confined("python", caps, FULL, "none") == Confinement(
        "none",
        network=True,
        forks=True,
        read=("/pack/a", "/b"),
        write=("/pack/c", "/pack/e"),
        enforced=(limits,),
        open=("files", "network", "other processes"),
    )
    assert confined("http", {}, FULL) == Confinement(
        "strict", network=True, enforced=("the address is checked for each call",)
    )
    assert confined("http", {}, FULL, "best").level == "best"
    # Bubblewrap has no filter, so the tool may fork in it, and `best` says so.
    assert confined("python", {}, BUBBLE, "best") == Confinement(
        "best",
        bwrap="/usr/bin/bwrap",
        forks=True,
        enforced=(limits, files, "no network"),
        open=("no other processes",),
    )
    assert confined("python", {}, OLD, "best") == Confinement(
        "best",
        forks=True,
        enforced=(limits,),
        open=(files, "the modes, owners and times of files", "no network", "no other processes"),
    )
    assert confined("python", {}, NO_FILTER, "best") == Confinement(
        "best",
        landlock=True,
        forks=True,
        enforced=(limits, files),
        open=("the modes, owners and times of files", "no network", "no other processes"),
    )


def test_bubblewrap_only_where_one_of_the_two_is_missing() -> None:
    bwrap = "/usr/bin/bwrap"
    both = Platform("linux", landlock=3, seccomp=True, bwrap=bwrap)
    assert confined("php", FORKS, both).bwrap is None
    assert confined("php", FORKS, both).summary == "landlock, seccomp"
    for lacking in (
        Platform("linux", landlock=2, seccomp=True, bwrap=bwrap),
        Platform("linux", landlock=7, seccomp=False, bwrap=bwrap),
    ):
        found = confined("php", FORKS, lacking)
        assert (found.bwrap, found.landlock, found.filter) == (bwrap, False, False)
        assert found.open == ()
        # What nothing keeps from forking is limited as what may fork.
        assert confined("php", {}, lacking, "best").forks


def test_a_landlock_that_lets_files_be_cut_does_not_do() -> None:
    for version, holds in ((2, False), (3, True)):
        old = Platform("linux", landlock=version, seccomp=True)
        assert confined("python", {}, old, "best").landlock is holds


def test_who_may_fork_may_signal_until_landlock_forbids_it() -> None:
    signals = "signals to other processes of this user"
    for version, opened in ((5, (signals,)), (6, ()), (7, ())):
        machine = Platform("linux", landlock=version, seccomp=True)
        assert confined("python", FORKS, machine).open == opened
        assert confined("python", {}, machine).open == ()
    # In a bubble there are no others.
    bubbled = Platform("linux", landlock=5, bwrap="/usr/bin/bwrap")
    assert confined("python", FORKS, bubbled).open == ()


def test_a_refusal_is_a_sentence_about_everything_that_is_missing() -> None:
    with pytest.raises(Unservable) as raised:
        confined("python", {}, OLD)
    text = (
        "this machine cannot enforce: reads its code and its own folder but for hidden files and "
        "secrets, writes only a folder that is removed after the call, the modes, owners and "
        "times of files, no network, no other processes "
        "(`--isolation best` serves the tool without that)"
    )
    assert raised.value.reasons == (text,)
    assert str(raised.value) == text
    assert str(Unservable("a", "b")) == "a; b"
    with pytest.raises(Unservable) as raised:
        confined("cli", {}, FULL)
    assert raised.value.reasons == (
        "a `cli` tool starts a program: it needs `caps: {subprocess: true}`",
    )
    with pytest.raises(Unservable, match=r"^tools can run on Linux and macOS only$"):
        confined("python", {}, WINDOWS)
