"""Payload generators: what a `$generate` node stands for.

`build` turns the mapping under `$generate` into a frozen `Generator`, whose size is known and whose bytes are made
only when somebody reads them; or says everything that is wrong with it. There are six types, and programs and
plugins may `register` more.
"""

from equipage.generators.ansi_escape import AnsiEscape
from equipage.generators.base import Buffered, Generator, PayloadTooLarge, Streamed
from equipage.generators.batch_notifications import BatchNotifications
from equipage.generators.building import build
from equipage.generators.codes import CODES
from equipage.generators.compact import CompactJson
from equipage.generators.garbage import Garbage
from equipage.generators.limits import GeneratorLimits
from equipage.generators.nested_json import NestedJson
from equipage.generators.registry import REGISTRY, register, registered
from equipage.generators.repeated_keys import RepeatedKeys
from equipage.generators.schema import schema
from equipage.generators.sizes import format_size, parse_size
from equipage.generators.unicode_spam import UnicodeSpam

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
