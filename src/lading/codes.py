"""The shape of a finding's entry in the book: its name, severity and words."""

from __future__ import annotations

import msgspec

from lading.diagnostics import Severity


class Code(msgspec.Struct, frozen=True):
    """What a code means. Templates are filled from the values of the fact."""

    name: str  #: kebab-case
    severity: Severity  #: unless the fact says otherwise
    message: str  #: `str.format` template over the fact's values, one line, no final period
    about: str  #: a paragraph: what it means, why it matters, how to mend it
    help: str | None = None  #: template; shown only when every value it names is present and not None
