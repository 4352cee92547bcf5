"""Runs one program in the folder of its files, and says what came of it, as JSON.

python drive.py programs/with_equipage.py [PATH OF A VALUE]
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import sys
from typing import Any


def plain(config: Any) -> Any:
    """The configuration of any library as plain data."""
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        return dataclasses.asdict(config)
    if hasattr(config, "model_dump"):
        return config.model_dump()
    from omegaconf import OmegaConf

    return OmegaConf.to_container(config)


def is_frozen(config: Any) -> bool:
    """Whether neither the configuration nor a tool in it can be changed."""
    tools = config.tools
    tool = tools["search"] if hasattr(tools, "keys") else tools[0]
    for holder, name in ((config, "name"), (tool, "timeout")):
        try:
            setattr(holder, name, getattr(holder, name))
        except Exception:
            continue
        return False
    return True


def main(program: str, *keys: str) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("program", program)
    assert spec is not None
    assert spec.loader is not None
    sys.modules["program"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        config = module.load("app.yaml")
    except Exception as error:
        return {"error": type(error).__name__, "said": str(error)}
    explain = getattr(module, "explain", None)
    story = str(explain("app.yaml", *keys)) if explain is not None and keys else ""
    return {"config": plain(config), "frozen": is_frozen(config), "story": story}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:]), default=str))
