"""Settings: the layered `config.toml`, merged; each value knows its layer."""

from equipage.kinds.defect.settings_layers import LoadedSettings, SettingsLayer, load_settings

__all__ = ["LoadedSettings", "SettingsLayer", "load_settings"]
