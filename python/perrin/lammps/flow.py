"""What decides which lines of a script are read, and how often: variables, if, include, loops by
jump and next."""
import os

from perrin.importing.lines import NotUnderstood
from perrin.lammps.script import logical_lines, split

MOST = 20000  # lines that are read once more, in turns of loops


class Flow:
    """A part of perrin.lammps.convert.Script, whose members it uses."""

    def begin_flow(self):
        self.target = None      # (file, label) of a jump
        self.skips = False      # the next jump, behind a list that has ended
        self.open_end = False   # an `if` with a jump whose condition is not known
        self.place = (None, 0)  # (lines, index) that are read
        self.seen, self.again = set(), 0  # lines so far; how many of them were read before

    def read(self, path):
        lines, at, before = list(logical_lines(path)), 0, self.place
        while at < len(lines) and not self.lost:
            line, at = lines[at], at + 1
            self.place, known = (lines, at), len(self.seen)
            self.seen.add((line.file, line.number))
            self.again += len(self.seen) == known
            if self.again > MOST:
                self.result.not_understood.append((line, f"more than {MOST} lines of loops: one "
                                                   "that is too long, or does not end"))
                self.lost = True
                break
            self.run_line(line)
            if self.target is not None:
                lines, at = self.landing(lines, line)
        self.place = before

    def landing(self, lines, line):
        """(lines, index) behind the label of a jump."""
        (file, label), self.target = self.target, None
        if file != "SELF":
            lines = list(logical_lines(self.file(file)))
        at = 0 if label is None else label_of(lines, label)
        if at is None:
            self.result.not_understood.append((line, f"jump: there is no label {label}"))
            self.lost = True
            at = len(lines)
        return lines, at

    def do_jump(self, rest, line):
        if self.skips:
            self.skips = False
            return
        file, label = rest[0], rest[1] if len(rest) > 1 else None
        if file != "SELF" and not os.path.exists(self.file(file)):
            self.lost = True
            raise NotUnderstood(f"the file {file} is not there: nothing that follows was read")
        lines, here = self.place
        there = 0 if label is None else label_of(lines, label)
        if self.open_end and file == "SELF" and there is not None and there < here:
            self.open_end = False
            raise NotUnderstood("a loop whose end depends on what a run does: its first turn is "
                                "translated")
        self.target = file, label

    def do_next(self, rest, line):
        self.skips = not self.variables.next(rest)

    def do_variable(self, rest, line):
        """What is not in quotes has the value of now: `equal ${x}` is a number for good."""
        name, style, *words = rest
        if style != "equal":
            words = [self.variables.substitute(w) for w in split(" ".join(words))]
            self.variables.define([name, style, *words])
            return
        try:
            words = [self.variables.substitute_outside(" ".join(words))]
        except NotUnderstood as error:
            self.variables.unknown(name, f"{style}, of {error}")
            return
        self.variables.define([name, style, *words])

    def do_if(self, rest, line):
        """if "A" then "…" elif "B" "…" else "…"; commands are substituted when they run."""
        words, branches = list(rest), []
        branches.append((words.pop(0), []))
        if words.pop(0) != "then":
            raise NotUnderstood("if: expected then behind the condition")
        while words:
            word = words.pop(0)
            if word == "elif":
                branches.append((words.pop(0), []))
            elif word == "else":
                branches.append((None, []))
            else:
                branches[-1][1].append(word)
        for condition, commands in branches:
            try:
                holds = condition is None or self.variables.condition(
                    self.variables.substitute(condition))
            except NotUnderstood:
                self.open_end |= any(c.split()[:1] == ["jump"] for _, of in branches for c in of)
                raise
            if holds:
                for text in commands:
                    self.run_line(line, text)
                return

    def do_shell(self, rest, line):
        if rest[0] == "cd":
            raise NotUnderstood("shell cd: files are looked for beside the script")
        self.result.no_effect.append(line)

    def do_include(self, rest, line):
        path = self.file(rest[0])
        if not os.path.exists(path):
            raise NotUnderstood(f"the file {rest[0]} is not there")
        self.read(path)


def label_of(lines, label):
    """The index behind a label, or None."""
    for k, line in enumerate(lines):
        if line.text.split()[:2] == ["label", label]:
            return k + 1
    return None
