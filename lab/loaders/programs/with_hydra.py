from dataclasses import dataclass, field
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING, OmegaConf


@dataclass
class Tool:
    name: str = MISSING
    url: str = MISSING
    timeout: int = 30


@dataclass
class App:
    name: str = MISSING
    prompt: str = MISSING
    tools: dict[str, Tool] = field(default_factory=dict)


ConfigStore.instance().store(name="schema", node=App)


def load(path):
    own = Path(path).resolve()
    OmegaConf.register_new_resolver("file", lambda name: own.with_name(name).read_text())
    with initialize_config_dir(str(own.parent), version_base=None):
        config = compose(own.stem)
    missing = OmegaConf.missing_keys(config)
    if missing:
        raise ValueError(f"missing: {', '.join(sorted(missing))}")
    OmegaConf.resolve(config)
    OmegaConf.set_readonly(config, True)
    return config
