"""Load, compose, check and freeze the configuration of AI agents."""

from lading._version import __version__

__all__ = ["__version__"]
