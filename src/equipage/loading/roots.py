"""Where the layers of a configuration are: the user's folder and that of the project.

The user's layer is `<config home>/defect`. The config home is `$XDG_CONFIG_HOME`, else `~/.config`.
A variable that is empty or relative is ignored, as the XDG specification asks: taken literally, it
would turn any working directory into the user's own configuration. The project's layer is `.defect`
in the root of the repository: the nearest parent of the working directory with an entry `.git`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Fact
from equipage.files import (
    folder_argument,
    real_path,
    repository_root,
    text_argument,
    wrong_argument,
)

USER_FOLDER = "defect"
PROJECT_FOLDER = ".defect"
StrPath = str | os.PathLike[str]


class LayerFolders(msgspec.Struct, frozen=True):
    """The folders of the two layers, None for a layer that does not exist."""

    cwd: str
    user: str | None
    project: str | None
    root: str | None = None  #: the root of the repository
    ignored: tuple[str, ...] = ()  #: variables that were not used


def find_layer_folders(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> LayerFolders:
    """The layers seen from `cwd`. With `local`, the user's is left out.

    The first of these gives the config home: the argument `xdg_config_home`, the variable
    `XDG_CONFIG_HOME`, the argument `home`, the variable `HOME`. With none of them there is no user
    layer.
    """
    # Links are resolved once, so that every part of a configuration agrees on the root.
    here = real_path(folder_argument("cwd", cwd))
    root = repository_root(here)
    if not isinstance(env, Mapping | None):
        raise wrong_argument("env", env, "a mapping of names to values")
    variables = os.environ if env is None else env
    ignored: list[str] = []
    user = None if local else _user_folder(xdg_config_home, home, variables, ignored)
    project = None if root is None else os.path.join(root, PROJECT_FOLDER)
    return LayerFolders(here, user, project, root, tuple(ignored))


def _user_folder(
    xdg: StrPath | None, home: StrPath | None, env: Mapping[str, str], ignored: list[str]
) -> str | None:
    if xdg is not None:
        return os.path.join(folder_argument("xdg_config_home", xdg), USER_FOLDER)
    from_xdg = _absolute_variable("XDG_CONFIG_HOME", env, ignored)
    if from_xdg is not None:
        return os.path.join(from_xdg, USER_FOLDER)
    base = (
        folder_argument("home", home)
        if home is not None
        else _absolute_variable("HOME", env, ignored)
    )
    return None if base is None else os.path.join(base, ".config", USER_FOLDER)


def _absolute_variable(name: str, env: Mapping[str, str], ignored: list[str]) -> str | None:
    """The value of a variable that holds an absolute path which is text."""
    value = text_argument(f"env[{name!r}]", env.get(name, ""))
    # Bytes that are not text come as lone surrogates; a NUL ends a name for the system.
    is_text = not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value)
    if os.path.isabs(value) and is_text:
        return value
    if value:
        ignored.append(name)
    return None


def resolve_parent_links(path: str, depth: int) -> str:
    """A path whose last `depth` parts are kept as they are, and all before them without links."""
    parts = os.path.abspath(path).rsplit(os.sep, depth)
    return os.path.join(real_path(parts[0] or os.sep), *parts[1:])


def layer_unreadable_fact(error: OSError) -> Fact:
    """The finding that a folder of a layer exists and cannot be listed."""
    return codes.LAYER_UNREADABLE.at(reason=error.strerror or str(error))
