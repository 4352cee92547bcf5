"""The findings about generators, in words."""

from __future__ import annotations

from equipage.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "generator-not-a-mapping",
        "error",
        "`$generate` takes a mapping with a `type`, not {found}",
        "A `$generate` node says which payload to make. It is a mapping: `type` names the generator, and the other "
        "keys are its parameters. Write, for example, `$generate: {type: garbage, bytes: 1kb}`.",
    ),
    Code(
        "generator-type-missing",
        "error",
        "`$generate` does not say which `type` of payload to make",
        "The key `type` of a `$generate` node names the generator; without it the other keys have no meaning. Add "
        "one of the known types.",
        "write `type:` with one of {allowed}",
    ),
    Code(
        "generator-type-unknown",
        "error",
        "`{found}` is not a type of generator, known are {allowed}",
        "The `type` of a `$generate` node must be one of the generators equipage knows or one an installed plugin "
        "adds. Names are matched exactly, lower case with underscores.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-plugin-broken",
        "error",
        "the plugin for generator `{type}` cannot be used: {reason}",
        "An installed package offers this generator, but loading it failed or gave something that is no generator. "
        "Update or remove the package; nothing in the configuration is wrong.",
    ),
    Code(
        "generator-parameter-missing",
        "error",
        "generator `{type}` needs `{parameter}`",
        "This parameter has no default: it says how much to make, and no guess would be right. Null counts as "
        "missing. Add it to the `$generate` node.",
        "add `{parameter}`, {expected}",
    ),
    Code(
        "generator-parameter-unknown",
        "warning",
        "`{parameter}` is not a parameter of generator `{type}` and is ignored",
        "The generator does not know this key, so it changes nothing. Often it is a misspelling, and the parameter "
        "that was meant silently keeps its default. Correct the name or remove the key.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-parameter-type",
        "error",
        "`{parameter}` takes {expected}, not {found}",
        "The parameter has a value of the wrong type. Values are never converted: `5` in quotes is a string, `5.0` "
        "is no whole number, and true and false are not 1 and 0. Write a value of the expected type.",
    ),
    Code(
        "generator-parameter-range",
        "error",
        "`{parameter}` takes {expected}, not {found}",
        "The number is outside what the parameter can mean. Counts, depths and sizes are never negative, and a seed "
        "is an unsigned 64-bit number.",
    ),
    Code(
        "generator-size-unreadable",
        "error",
        "`{parameter}` takes a number of bytes such as 512 or `1mb`, not `{found}`",
        "A size is a whole number of bytes, or digits followed by `b`, `kb`, `mb` or `gb` in any case. Units are "
        "binary, so `1kb` is 1024 bytes. There are no fractions and no signs.",
    ),
    Code(
        "generator-choice-unknown",
        "error",
        "`{found}` is not possible for `{parameter}`, use one of {allowed}",
        "The parameter takes one of a few words, matched exactly. Falling back to the default would send another "
        "payload than the one asked for, so an unknown word is an error.",
        "did you mean `{nearest}`?",
    ),
    Code(
        "generator-value-not-json",
        "error",
        "`{parameter}` cannot be sent as JSON: {reason}",
        "The generator writes this value into its output as UTF-8 JSON, and JSON has no form for it. Strings must "
        "be whole Unicode text, keys must be strings, and numbers must have a sensible number of digits.",
    ),
    Code(
        "generator-value-becomes-null",
        "warning",
        "`{parameter}` contains a number JSON cannot write, null is sent instead",
        "JSON has no NaN and no infinity. The format sends null in their place. Write null to say so, or a string "
        "such as `NaN` if the receiver should see the word.",
    ),
    Code(
        "generator-makes-nothing",
        "warning",
        "with an empty or zero `{parameter}` the generator makes an empty payload",
        "A count of 0 or an empty list is accepted, but the payload then has no items. If that is meant, plain text "
        "says it more clearly; otherwise give a larger count or name some items.",
    ),
    Code(
        "generator-over-limit",
        "error",
        "`{parameter}` is {found}, over the limit of {limit}",
        "Depths and counts are bounded, so that a slip of a zero does not exhaust the machine that serves the "
        "payload. Choose a smaller number, or raise the limit through its environment variable where equipage runs.",
        "set {variable} to allow more",
    ),
    Code(
        "generator-too-large",
        "error",
        "Generated payload too large: {size} (limit: {limit})",
        "The size of a payload is known before a byte of it is made, and it is over the limit. Choose smaller "
        "parameters, or raise the limit through its environment variable where equipage runs; sizes such as `1gb` "
        "are understood there.",
        "it would have {bytes} bytes; set {variable} to allow more",
    ),
    Code(
        "generator-limit-unreadable",
        "warning",
        "{variable} is not a number that can be a limit, the default of {default} is used",
        "The environment variable sets how much a generator may make. It takes a whole number, and a size such as "
        "`1gb` where the limit is in bytes; blanks, signs other than `+`, fractions and numbers beyond 64 bits are "
        "not understood. Its value is not shown, as environment variables may hold secrets.",
    ),
)
