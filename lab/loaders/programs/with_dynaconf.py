from dataclasses import dataclass
from pathlib import Path

from dynaconf import Dynaconf, Validator, get_history


@dataclass(frozen=True)
class Tool:
    name: str
    url: str
    timeout: int = 30


@dataclass(frozen=True)
class App:
    name: str
    prompt: str
    tools: tuple[Tool, ...] = ()


def settings_of(path):
    files = ["lib/*.yaml", "base.yaml", Path(path).name, "local.yaml"]
    root = str(Path(path).parent.resolve())
    return Dynaconf(root_path=root, settings_files=files, merge_enabled=True)


def load(path):
    settings = settings_of(path)
    settings.validators.register(
        Validator("name", "prompt", must_exist=True, is_type_of=str),
        *(
            Validator(f"tools.{name}.{key}", is_type_of=kind)
            for name in settings.get("tools", {})
            for key, kind in (("name", str), ("url", str), ("timeout", int))
        ),
    )
    settings.validators.validate_all()
    tools = [{key.lower(): each for key, each in tool.items()} for tool in settings.tools.values()]
    return App(settings.name, settings.prompt, tuple(Tool(**each) for each in tools))


def explain(path, key):
    return get_history(settings_of(path), key=key)
