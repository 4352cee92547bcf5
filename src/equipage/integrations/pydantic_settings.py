"""A source for pydantic-settings: a file with includes, variables and layers.

    class Settings(BaseSettings):
        @classmethod
        def settings_customise_sources(cls, settings_cls, init_settings, **others):
            return init_settings, EquipageSource(settings_cls, "app.yaml", layers=("base.yaml",))

What the file cannot say is an error of the file (`equipage.LoadError`); whether its values fit the
settings is for pydantic to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_settings import PydanticBaseSettingsSource

from equipage.api import load
from equipage.loading.format import Format

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from pydantic.fields import FieldInfo
    from pydantic_settings import BaseSettings


class EquipageSource(PydanticBaseSettingsSource):
    """The values of a file, composed as a format without a model composes them."""

    def __init__(
        self,
        settings_cls: type[BaseSettings],
        path: str | os.PathLike[str],
        *,
        env: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> None:
        """`parts` are those of `equipage.Format`: `layers`, `merge`, `stages`, `reading`."""
        super().__init__(settings_cls)
        self._loaded = load(path, kind=Format({}, settings_cls.__name__, **parts), env=env)

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The value of one field, by the name that the file has for it."""
        name = field.alias or field_name
        return self._loaded.value.get(name), name, False

    def __call__(self) -> dict[str, Any]:
        """Everything that the file says."""
        found: dict[str, Any] = self._loaded.to_dict()
        return found
