"""Jobs as text, with the lines of the script that their parts come from as comments."""
import json
import os

WIDTH = 96


class Commented(dict):
    """A part of a job, and the line of the script that it is made of."""

    def __init__(self, values, line):
        super().__init__(values)
        self.line = line


def short(value):
    return json.dumps(value, ensure_ascii=False)


def text(value, indent, before=0):
    """A value on one line where it fits behind `before` columns, else with an entry on each."""
    flat = short(value)
    if not isinstance(value, (dict, list)) or not value or \
            len(flat) + indent + before <= WIDTH and not commented(value):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        entries = [(f"{json.dumps(k)}: ", v) for k, v in value.items()]
    else:
        entries = [("", v) for v in value]
    lines = []
    for n, (key, entry) in enumerate(entries):
        comment = f"  // {entry.line}: {entry.line.text}" \
            if isinstance(entry, Commented) and entry.line is not None else ""
        comma = "," if n + 1 < len(entries) else ""
        if comment:
            lines.append(f"{pad}{comment.strip()}")
        lines.append(f"{pad}{key}{text(entry, indent + 2, len(key))}{comma}")
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + "\n".join(lines) + f"\n{' ' * indent}{closing}"


def commented(value):
    entries = value.values() if isinstance(value, dict) else value
    return any(isinstance(e, Commented) and e.line is not None or
               isinstance(e, (dict, list)) and commented(e) for e in entries)


def job_text(program, job, result, path, part=1, parts=1):
    head = [f"// Made by `perrin import {program}` from {os.path.basename(path)}" +
            (f", part {part} of {parts}." if parts > 1 else ".")]
    for title, entries in (("NOT translated: the job leaves these out.", result.not_understood),
                           ("Translated into something near.", result.changed)):
        if entries:
            head += ["//", f"// {title}"]
            head += [f"//   {line}: {line.text}  [{reason}]" for line, reason in entries]
    return "\n".join(head) + "\n" + text(job, 0) + "\n"
