"""The classes that the other programs load."""

from __future__ import annotations

from dataclasses import dataclass

import equipage


@dataclass(frozen=True)
class Tool:
    name: str
    url: str = "https://a.example"


@dataclass(frozen=True)
class App:
    name: str
    tools: tuple[Tool, ...] = ()


APP = equipage.Format(App, layers=("base.yaml", equipage.FILE, "app.{STAGE}.yaml"))
