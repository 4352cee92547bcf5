"""The files that each program reads: right ones, ones with mistakes, and hostile ones.

Each library has them in its own idiom. A change replaces files of the project, which is the folder
`project`; `../` names what is beside it.
"""

from __future__ import annotations

APP = "name: demo\nprompt: {$file: prompt.md}\n"
BASE = "tools:\n  - $include: lib/search.yaml\n    override: {timeout: 40}\n"
SEARCH = "name: search\nurl: https://${HOST:-a.example}\ntimeout: 10\n"
OF_OMEGACONF = SEARCH.replace("${HOST:-a.example}", "${oc.env:HOST,a.example}")
OF_HYDRA = "defaults: [schema, base, _self_, {optional machine@_global_: local}]\n"
PART_OF_HYDRA = "defaults: [{lib@tools.search: search}, _self_]\n"
OF_DYNACONF = """\
tools:
  search:
    name: search
    url: '@jinja https://{{ env.HOST or "a.example" }}'
    timeout: 10
"""
COMPOSED = {
    "app.yaml": APP,
    "base.yaml": BASE,
    "lib/search.yaml": SEARCH,
    "local.yaml": "name: my demo\n",
    "prompt.md": "Be kind.\n",
}
#: Library → the files of the task.
FILES: dict[str, dict[str, str]] = {
    "equipage": COMPOSED,
    "omegaconf": {**COMPOSED, "lib/search.yaml": OF_OMEGACONF},
    "hydra": {
        "app.yaml": OF_HYDRA + "name: demo\nprompt: ${file:prompt.md}\n",
        "base.yaml": PART_OF_HYDRA + "tools: {search: {timeout: 40}}\n",
        "lib/search.yaml": OF_OMEGACONF,
        "machine/local.yaml": "name: my demo\n",
        "prompt.md": "Be kind.\n",
    },
    "pydantic-settings": COMPOSED,
    "dynaconf": {
        "app.yaml": "name: demo\nprompt: '@read_file prompt.md'\n",
        "base.yaml": "tools: {search: {timeout: 40}}\n",
        "lib/search.yaml": OF_DYNACONF,
        "local.yaml": "name: my demo\n",
        "prompt.md": "Be kind.\n",
    },
}
#: A misspelt key in the file that is included, text for a number, and a field that is missing.
MISTAKES = {
    library: {
        "app.yaml": "".join(
            line for line in files["app.yaml"].splitlines(keepends=True) if "prompt" not in line
        ),
        "base.yaml": files["base.yaml"].replace("timeout: 40", "timeout: soon"),
        "lib/search.yaml": files["lib/search.yaml"]
        + ("    timeot: 5\n" if library == "dynaconf" else "timeot: 5\n"),
    }
    for library, files in FILES.items()
}
_SECRET = {"../secret.yaml": "name: hunter2\nurl: https://b.example\n"}
_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
_CYCLE = {"lib/search.yaml": "{$include: ../base.yaml}\n"}
_ESCAPE = {**_SECRET, "base.yaml": "tools: [{$include: ../secret.yaml}]\n"}
#: Files with bad intentions: sort → library → changes.
HOSTILE: dict[str, dict[str, dict[str, str]]] = {
    "cycle": {
        **dict.fromkeys(("equipage", "omegaconf", "pydantic-settings"), _CYCLE),
        "hydra": {"lib/search.yaml": "defaults: [/base]\n"},
        "dynaconf": {
            "base.yaml": "dynaconf_include: [lib/search.yaml]\n",
            "lib/search.yaml": "dynaconf_include: [base.yaml, ../base.yaml]\n" + OF_DYNACONF,
        },
    },
    "escape": {
        **dict.fromkeys(("equipage", "omegaconf", "pydantic-settings"), _ESCAPE),
        "hydra": {
            **_SECRET,
            "base.yaml": PART_OF_HYDRA.replace(
                "{lib@tools.search: search}", "../secret@tools.search"
            ),
        },
        "dynaconf": {
            "../secret.yaml": "tools: {search: {name: hunter2}}\n",
            "base.yaml": "dynaconf_include: [../secret.yaml]\n",
        },
    },
    "alias bomb": {
        library: {"app.yaml": files["app.yaml"] + _BOMB} for library, files in FILES.items()
    },
}
