"""Types of components as Python classes: made from the schema of jobs, which the engine makes from
the declarations of settings."""
from __future__ import annotations

import functools
import inspect
import json
import keyword

from perrin import _perrin, show
from perrin.errors import JobError, Problem

KINDS = {"system": "Initial configurations.",
         "part": "Parts of the system \"parts\".",
         "force": "Forces on the particles.",
         "integrator": "Integrators of the equations of motion.",
         "observer": "Output and measurements.",
         "stage": "Stages of a run."}


@functools.lru_cache(maxsize=None)
def _read():
    return json.loads(_perrin.schema())


def schema():
    """The JSON Schema of jobs, with the types of all plug-ins found."""
    return _read()


def setting_text(name, setting):
    default = f" (default {json.dumps(setting['default'])})" if "default" in setting else ""
    return f"{name}: {setting.get('description', '')}{default}"


def parameters(definition):
    """Name of the argument → (name of the setting, its schema); "A-B" and words of Python get
    underscores."""
    known = {}
    for name, setting in definition["properties"].items():
        argument = name + "_" if keyword.iskeyword(name) else name.replace("-", "_")
        if name not in ("type", "$schema"):
            known[argument] = (name, setting)
    return known


def component_class(kind, name, definition):
    known = parameters(definition)
    required = set(definition.get("required", ()))

    def __init__(self, *values, **settings):
        if values:
            raise JobError(f"{kind}.{name}(): settings are given by name, "
                           f"{next(iter(known), 'type')}=…; got {values[0]!r} without one")
        wrong = [Problem(k, None, f"unknown key; {name} has {', '.join(known)}")
                 for k in settings if k not in known]
        wrong += [Problem(k, None, "is missing") for k, (setting, _) in known.items()
                  if setting in required and k not in settings and setting != "steps"]
        if wrong:
            raise JobError("\n".join(f"{kind}.{name}: {p.path}: {p.message}" for p in wrong), wrong)
        dict.__init__(self, **({"type": name} if kind != "job" else {}),
                      **{known[k][0]: v for k, v in settings.items() if v is not None})

    lines = [setting_text(k, s) for k, (_, s) in known.items()]
    doc = definition.get("description", "") + "\n\n" + "\n".join(lines)
    title = "perrin.Job" if kind == "job" else f"perrin.{kind}.{name}"
    made = type(name, (dict,), {"__init__": __init__, "__doc__": doc,
                                "__module__": f"perrin.{kind}",
                                "_repr_html_": lambda self: show.of_job(self, title)})
    made.__signature__ = inspect.Signature(
        [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY,
                           default=inspect.Parameter.empty if s in required else
                           v.get("default")) for k, (s, v) in known.items()])
    return made


def definitions(kind):
    return {key.split(".", 1)[1]: value for key, value in schema()["definitions"].items()
            if key.startswith(kind + ".")}


def members(kind):
    """__getattr__ and __dir__ of the module perrin.KIND."""
    made = {}

    def get(name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in made:
            known = definitions(kind)
            if name not in known:
                raise AttributeError(f"there is no {kind} \"{name}\"; there are "
                                     f"{', '.join(sorted(known))}")
            made[name] = component_class(kind, name, known[name])
        return made[name]

    return get, lambda: sorted(definitions(kind))
