"""Payload generators: what a `$generate` node stands for.

`build` turns the mapping under `$generate` into a frozen `Generator`, whose size is known and whose bytes are made
only when somebody reads them; or says everything that is wrong with it. There are six types, and programs and
plugins may `register` more.
"""

from lading.generators.ansi_escape import AnsiEscape
from lading.generators.base import Buffered, Generator, PayloadTooLarge, Streamed
from lading.generators.batch_notifications import BatchNotifications
from lading.generators.building import build
from lading.generators.codes import CODES
from lading.generators.compact import CompactJson
from lading.generators.garbage import Garbage
from lading.generators.limits import GeneratorLimits
from lading.generators.nested_json import NestedJson
from lading.generators.registry import REGISTRY, register, registered
from lading.generators.repeated_keys import RepeatedKeys
from lading.generators.schema import schema
from lading.generators.sizes import format_size, parse_size
from lading.generators.unicode_spam import UnicodeSpam

for _each in (NestedJson, BatchNotifications, Garbage, RepeatedKeys, UnicodeSpam, AnsiEscape):
    register(_each)

__all__ = [
    "CODES",
    "REGISTRY",
    "AnsiEscape",
    "BatchNotifications",
    "Buffered",
    "CompactJson",
    "Garbage",
    "Generator",
    "GeneratorLimits",
    "NestedJson",
    "PayloadTooLarge",
    "RepeatedKeys",
    "Streamed",
    "UnicodeSpam",
    "build",
    "format_size",
    "parse_size",
    "register",
    "registered",
    "schema",
]
