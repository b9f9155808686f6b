"""Writes the stubs of the Python package: those of the native module by nanobind, those of jobs
from the schema, which the engine makes from the declarations of settings.

    make_stubs.py PACKAGE     the folder that has _perrin
"""
import json
import keyword
import pathlib
import subprocess
import sys

KINDS = ("system", "part", "force", "integrator", "observer", "stage")
HEAD = "from typing import Any, Dict, Literal, Mapping, Optional, Sequence, Union\n"


def type_of(s):
    """A type for a setting, as the schema has it."""
    if "enum" in s and all(isinstance(v, str) for v in s["enum"]):
        return f"Literal[{', '.join(json.dumps(v) for v in s['enum'])}]"
    if "const" in s:
        return f"Literal[{json.dumps(s['const'])}]"
    if "anyOf" in s:
        kinds = [type_of(k) for k in s["anyOf"]]
        some = [k for k in kinds if k != "None"]
        union = some[0] if len(some) == 1 else f"Union[{', '.join(some)}]"
        return f"Optional[{union}]" if len(some) < len(kinds) else union
    if "$ref" in s or "allOf" in s:
        return "Mapping[str, Any]"
    if isinstance(s.get("type"), list):  # a number; formulas as text are Python's own expressions
        return type_of({**s, "type": s["type"][0]})
    if s.get("type") == "array":
        return f"Sequence[{type_of(s.get('items', {}))}]"
    if s.get("type") == "object":
        inside = s.get("additionalProperties")
        return f"Mapping[str, {type_of(inside) if isinstance(inside, dict) else 'Any'}]"
    return {"number": "float", "integer": "int", "string": "str", "boolean": "bool",
            "null": "None"}.get(s.get("type"), "Any")


def class_of(name, definition):
    arguments, lines = [], []
    for key, setting in definition["properties"].items():
        if key in ("type", "$schema"):
            continue
        argument = key + "_" if keyword.iskeyword(key) else key
        needed = key in definition.get("required", ()) and (name, key) != ("md", "steps")
        arguments.append(f"{argument}: {type_of(setting)}{'' if needed else ' = ...'}")
        default = f" (default {json.dumps(setting['default'])})" if "default" in setting else ""
        lines.append(f"    {argument}: {setting.get('description', '')}{default}")
    text = "\n".join([definition.get("description", "A job."), "", *lines])
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    given = "*, " + ", ".join(arguments) if arguments else ""
    return (f"\nclass {name}(Dict[str, Any]):\n    \"\"\"{text}\n    \"\"\"\n"
            f"    def __init__(self, {given}) -> None: ...\n")


def main(package):
    sys.path.insert(0, str(package))
    import _perrin
    schema = json.loads(_perrin.schema())
    for kind in KINDS:
        text = HEAD
        for name, definition in schema["definitions"].items():
            if name.startswith(kind + "."):
                text += class_of(name.split(".", 1)[1], definition)
        (package / f"{kind}.pyi").write_text(text)
    (package / "job.pyi").write_text(HEAD + class_of("Job", schema))
    (package / "py.typed").write_text("")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-i", str(package), "-m",
                    "_perrin", "-o", str(package / "_perrin.pyi")], check=True)


main(pathlib.Path(sys.argv[1]))
