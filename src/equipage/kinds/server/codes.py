"""The findings about server configurations, in words."""

from __future__ import annotations

from equipage.core.codes import Code

_FORMS = (
    Code(
        "mixed-forms",
        "error",
        "cannot mix both forms: `{key}` at the top level and `{phased}`",
        "A configuration is either simple, with `tools`, `resources` and `prompts` at the top level, or phased, with "
        "`baseline` and `phases`. In a mix nobody could say what the server offers.",
        "move `{key}` below `baseline:`",
    ),
    Code(
        "no-baseline",
        "warning",
        "phases without a baseline: they change an empty server",
        "Each phase removes, replaces and adds items of the baseline. Without one there is nothing to change.",
        "add `baseline:` with what the server offers at first",
    ),
    Code(
        "superseded-default",
        "warning",
        "`{key}` has no effect: `{winner}` is given, too",
        "The value is only the default of the baseline's, which has its own.",
        "remove one of the two",
    ),
    Code(
        "both-spellings",
        "error",
        "`{key}` and `{other}` are two spellings of the same key",
        "Both are understood, but only one can count.",
        "remove one of the two",
    ),
    Code(
        "empty-field",
        "error",
        "`{field}` is required and must not be empty",
        "The field is there, but it says nothing.",
    ),
    Code(
        "long-name",
        "warning",
        "the name of the server is unusually long: {length} bytes",
        "Clients show the name in lists; more than 100 bytes are rarely meant.",
    ),
    Code(
        "limit-exceeded",
        "error",
        "too many {entity} ({count} > {limit})",
        "The number of items is limited, so that a slip or a malicious file cannot exhaust whoever serves it. "
        "Items that phases add count, too.",
        "reduce their number; or set {variable}={count}",
    ),
    Code(
        "limit-unreadable",
        "warning",
        "{variable} is not a number that can be a limit, the default of {default} is used",
        "The environment variable sets how much a configuration may hold. It takes a whole number, and a size such "
        "as `20mb` where the limit is in bytes. Its value is not shown: an environment may hold secrets.",
        "set it to a whole number, or unset it",
    ),
    Code(
        "not-a-date",
        "error",
        "`{found}` is not a date",
        "Dates are written year-month-day.",
        "write it like 2024-01-31",
    ),
)

_ITEMS = (
    Code(
        "duplicate-item",
        "warning",
        "Duplicate {sort} {field} '{name}'",
        "Two items of one list have the same identity. For tools this is allowed, because shadowing is something "
        "to test: the later one hides the earlier. Resources and prompts are looked up by it, so one of them could "
        "never be reached.",
        "rename one of them",
    ),
    Code(
        "schema-not-object",
        "error",
        "`inputSchema` must be an object, found {found}",
        "The schema of a tool describes the mapping of its arguments.",
        "write `inputSchema: {{type: object}}` for a tool without arguments",
    ),
    Code(
        "schema-without-type",
        "warning",
        "`inputSchema` should say its `type`",
        "Clients expect `type: object`; some refuse a tool without it.",
        "add `type: object`",
    ),
    Code(
        "empty-content",
        "error",
        "`{field}` cannot be empty",
        "The response has neither content nor a way to choose some: no `match`, no `sequence`, no `handler`.",
        "add {example}",
    ),
    Code(
        "binary-as-text",
        "warning",
        "Binary file loaded as base64: {file}",
        "An image stands where text is expected, so the base64 characters themselves will be sent as text.",
        "use a content item with `type: image` and put the file under `data`",
    ),
)

_PHASES = (
    Code(
        "duplicate-phase",
        "error",
        "Duplicate phase name '{name}'",
        "Phases are told apart by their names.",
        "rename one of them",
    ),
    Code(
        "unreachable-phases",
        "warning",
        "phase `{name}` has no `advance`: the phases after it are unreachable",
        "A phase without a trigger lasts for ever. Only the last one should.",
        "add `advance:`, or move the phase to the end",
    ),
    Code(
        "unknown-target",
        "error",
        "Cannot {action} unknown {sort} '{name}'",
        "A phase replaces and removes items of the baseline. Phases are independent of each other: what another "
        "phase added is not there.",
        "{sort} '{name}' is not defined in {where}; phase `{adder}` adds it, but each phase starts from the baseline; "
        "available {plural}: {available}; did you mean '{nearest}'?",
    ),
    Code(
        "added-twice",
        "warning",
        "{sort} '{name}' is already there",
        "The item is in the baseline, or earlier in the same list. The later one hides it.",
        "to change an item of the baseline, use `replace_{plural}`",
    ),
    Code(
        "renamed-by-replace",
        "warning",
        "'{key}' is replaced by a {sort} called '{name}'",
        "The key says which item of the baseline is replaced; clients will see the other name in its place.",
        "if no new name is meant, write '{key}'",
    ),
    Code(
        "trigger-missing",
        "error",
        "Missing required field 'on' or 'after'",
        "A trigger says what ends the phase. Without an event or a time it could never fire.",
        "At least one trigger type is required:\n- 'on: event' for event-based trigger\n- 'after: duration' for "
        "time-based trigger\nExample:\n  advance:\n    on: tools/call\n    count: 3",
    ),
    Code(
        "count-zero",
        "error",
        "`count` must be positive",
        "The trigger fires when so many events were seen; none is no trigger.",
        "write 1 for the first event, or leave it out",
    ),
    Code(
        "timeout-without-event",
        "error",
        "`timeout` only works together with `on`",
        "A timeout says how long to wait for an event. A trigger by time alone has none to wait for.",
        "use `after`, or add `on`",
    ),
    Code(
        "unknown-event",
        "error",
        "'{event}' is not an event",
        "Events are the requests a client makes, matched exactly.",
        "did you mean '{nearest}'?; known events: {known}",
    ),
    Code(
        "odd-qualifier",
        "warning",
        "the part behind the colon in '{event}' has no effect on a real server",
        "Only `tools/call:NAME`, `resources/read:URI`, `resources/subscribe:URI` and `prompts/get:NAME` name one "
        "item; no other event is ever sent with a name.",
        "write '{base}'",
    ),
    Code(
        "invalid-duration",
        "error",
        "'{found}' is not a duration",
        "A duration is a whole number with a unit. Fractions, sums and other units are not understood.",
        "write {grammar}",
    ),
    Code(
        "long-duration",
        "warning",
        "'{found}' is a day or longer",
        "No test waits so long; often the unit is a slip.",
        "did you mean a smaller unit?",
    ),
    Code(
        "action-missing",
        "error",
        "this action does nothing",
        "An entry of `on_enter` is one of three actions.",
        "write `send_notification`, `send_request` or `log`",
    ),
    Code(
        "action-ambiguous",
        "warning",
        "only one action counts, `{winner}`; `{key}` is ignored",
        "Each entry of `on_enter` is one action.",
        "make it an entry of its own",
    ),
)

_MATCHING = (
    Code(
        "matcher-empty",
        "error",
        "a matcher needs an operator or a value",
        "An empty mapping matches nothing.",
        "write the exact value, or one of {operators}",
    ),
    Code(
        "matcher-operator-type",
        "error",
        "`{operator}` takes {expected}, found {found}",
        "Taken as an exact value, such a mapping would silently never match.",
    ),
    Code(
        "matcher-operators-combined",
        "warning",
        "`any_of` and `{other}` must both hold",
        "Operators of one matcher are combined with *and*; beside a list of values that is rarely meant.",
        "remove one of them",
    ),
    Code(
        "matcher-operator-as-field",
        "warning",
        "`{key}` is read as a field, `{field}`, not as an operator",
        "A mapping with a key that is no operator stands for nested fields, so every key in it is one.",
        "if the operator `{operator}` is meant, let the mapping hold nothing else",
    ),
    Code(
        "regex-invalid",
        "error",
        "'{pattern}' is not a valid regular expression: {problem}",
        "Patterns run in linear time: no look-around, no back-references. The rest is the usual syntax.",
    ),
    Code(
        "glob-invalid",
        "error",
        "'{pattern}' is not a valid glob: {problem}",
        "`*` matches any text, `?` one character, `[abc]` one of a set; `**` stands only between slashes.",
        "write `regex:` before it if it is a regular expression",
    ),
    Code(
        "condition-empty",
        "error",
        "this condition has no operator",
        "Without an operator it would always hold, which is never meant.",
        "write a glob, or one of {operators}",
    ),
    Code(
        "branch-incomplete",
        "error",
        "a branch needs `when` or `default`",
        "A `match` takes the first branch whose conditions hold; one without conditions says `default: true`.",
        "add `when:` with conditions, or `default: true`",
    ),
    Code(
        "branch-both",
        "warning",
        "`default` beside `when` has no effect",
        "A branch with conditions is taken when they hold, and only then.",
        "remove one of the two",
    ),
    Code(
        "second-default",
        "warning",
        "only the first `default` is ever taken",
        "A fallback is taken when no branch before it is; so nothing behind it is.",
        "remove one of them",
    ),
    Code(
        "unreachable-branch",
        "warning",
        "this branch is unreachable: a `default` stands before it",
        "Branches are tried in order, and a fallback is always taken.",
        "move the `default` to the end",
    ),
    Code(
        "empty-sequence",
        "warning",
        "the sequence is empty",
        "A sequence gives one answer after the other; this one has none.",
        "add answers, or remove it",
    ),
)

_HANDLERS = (
    Code(
        "handler-url",
        "error",
        "'{url}' is not a web address",
        "The handler is asked over HTTP.",
        "start it with http:// or https://",
    ),
    Code(
        "handler-timeout",
        "error",
        "`timeout_ms` is {found}, allowed are 100 to 300000",
        "A handler is given between a tenth of a second and five minutes.",
    ),
    Code(
        "handler-not-allowed",
        "error",
        "external handlers are not allowed here",
        "Whoever loads this configuration forbids responses that run a program or ask another server.",
        "allow handlers, or write the response in place",
    ),
    Code(
        "command-not-found",
        "warning",
        "the command '{command}' is not on the PATH",
        "The handler could not be started on this machine.",
    ),
    Code(
        "template-unclosed",
        "error",
        "`${{` is never closed: '{text}'",
        "A template starts here and has no end, so it could never be filled.",
        "close it with `}}`; for the characters themselves write `$$$${{` (`$${{` if embedded, or in a `$file`)",
    ),
    Code(
        "template-function",
        "warning",
        "there is no template function '{name}'",
        "What nobody knows is empty text when the response is sent.",
        "did you mean '{nearest}'?; functions: {known}",
    ),
    Code(
        "effect-parameter-type",
        "warning",
        "`{parameter}` of `{type}` takes {expected}, found {found}; its default is used",
        "A side effect runs on with its default where a parameter does not fit.",
    ),
    Code(
        "not-positive",
        "error",
        "`{field}` must be positive",
        "With 0 the side effect would do nothing.",
    ),
)

CODES: tuple[Code, ...] = (*_FORMS, *_ITEMS, *_PHASES, *_MATCHING, *_HANDLERS)
