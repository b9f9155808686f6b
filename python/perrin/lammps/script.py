"""The language of LAMMPS's input scripts: lines, variables, formulas, `if` and `include`."""
import os
import re
import shlex

from perrin.importing.lines import Line, NotUnderstood
from perrin.lammps.formula import Formula

LISTS = ("index", "loop")  # styles that `next` moves on
SIMPLE = (*LISTS, "string", "getenv", "format", "equal", "internal")

def logical_lines(path):
    """Lines of a script without comments; `&` at the end joins the next one."""
    with open(path, errors="replace") as file:
        raw = file.read().split("\n")
    number = 0
    while number < len(raw):
        first, text = number + 1, raw[number]
        number += 1
        while number < len(raw) and text.count('"""') == 1:  # a long text: up to its end
            text += "\n" + raw[number]
            number += 1
        text = without_comment(text)
        while text.rstrip().endswith("&") and number < len(raw):
            text = text.rstrip()[:-1] + " " + without_comment(raw[number])
            number += 1
        if text.strip():
            yield Line(path, first, " ".join(text.split()))


def without_comment(text):
    quote = None
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c == "#":
            return text[:i]
    return text


def split(text):
    try:
        return shlex.split(text, posix=True)
    except ValueError:
        return text.split()


class Variables:
    """Variables of a script. `keyword` answers words of the state: lx, vol, atoms, …; `count`:
    particles of a group."""

    def __init__(self, given=None, keyword=lambda word: None, count=None):
        self.given = {k: str(v) for k, v in (given or {}).items()}
        self.values, self.open = {}, set()  # open: those that are being evaluated
        self.ahead_of = {}  # of a list: the values that `next` gives
        self.keyword, self.count = keyword, count
        self.ends = False  # ramp(a, b) is b: its value when a run ends
        # While a course is looked at: steps from now, and those of the run; whether somebody asked.
        self.ahead, self.length, self.asked = None, 0, False

    def define(self, words):
        name, style, *rest = words
        if style == "delete":
            self.values.pop(name, None)
            self.ahead_of.pop(name, None)
        elif style in LISTS:
            if name in self.given or name in self.values:
                return
            every = turns(rest) if style == "loop" else rest
            self.values[name], self.ahead_of[name] = (style, every[0]), every[1:]
        elif style in SIMPLE:
            if style == "getenv":
                rest = [os.environ.get(rest[0], "")]
            self.values[name] = (style, " ".join(rest) if style in ("equal", "format") else rest[0])
        else:  # of each atom, of files, of Python: not understood where something asks for it
            self.values[name] = (style, None)

    def unknown(self, name, reason):
        """A variable whose value is not known: what asks for it is listed."""
        self.values[name] = (reason, None)

    def next(self, names):
        """The next value of lists; whether there is one. Lists that end are deleted."""
        for name in names:
            if name in self.given or self.values.get(name, ("",))[0] not in LISTS:
                raise NotUnderstood(f"next of {name}: expected a variable index or loop of the "
                                    "script")
        ends = any(not self.ahead_of[name] for name in names)
        for name in names:
            if ends:
                del self.values[name], self.ahead_of[name]
            else:
                value, *self.ahead_of[name] = self.ahead_of[name]
                self.values[name] = (self.values[name][0], value)
        return not ends

    def text(self, name):
        if name in self.given:
            return self.given[name]
        if name not in self.values:
            raise NotUnderstood(f"the variable {name} has no value; --var {name}=… gives one")
        style, value = self.values[name]
        if value is None:
            raise NotUnderstood(f"the variable {name} of the style {style}" if " " not in style
                                else f"the variable {name}: {style}")
        if style not in ("equal", "format"):
            return value
        if name in self.open:
            raise NotUnderstood(f"the variable {name}, which is made of itself")
        self.open.add(name)
        try:
            if style == "format":
                of, pattern = value.split()
                return pattern.strip("\"'") % self.evaluate(f"v_{of}")
            return number_text(self.evaluate(value))
        finally:
            self.open.remove(name)

    def substitute(self, text):
        """Names and $(…) as their values."""
        made, at = "", 0
        while (found := text.find("$", at)) >= 0:
            made += text[at:found]
            match = re.compile(r"\$\{(\w+)\}|\$(\w)").match(text, found)
            if match:
                made += self.text(match[1] or match[2])
                at = match.end()
            elif text.startswith("$(", found):
                at = closing(text, found + 1)
                made += self.immediate(text[found + 2:at - 1])
            else:
                made, at = made + "$", found + 1
        return made + text[at:]

    def immediate(self, inner):
        pattern = re.search(r":(%[-+0-9.]*[a-z]+)$", inner)
        value = self.evaluate(inner[:pattern.start()] if pattern else inner)
        return pattern[1] % value if pattern else number_text(value)

    def substitute_outside(self, text):
        """Of what is not in quotes: a formula in quotes keeps its names."""
        parts = re.split(r"(\"[^\"]*\"|'[^']*')", text)
        return "".join(part if k % 2 else self.substitute(part) for k, part in enumerate(parts))

    def number(self, word):
        """A number, or v_NAME."""
        if word.startswith("v_"):
            return self.evaluate(word)
        try:
            return float(word)
        except ValueError:
            raise NotUnderstood(f"expected a number, got {word!r}") from None

    def later(self, word, ahead, length=0):
        """A number so many steps from now, in a run of this length (None: in each of several);
        whether it depends on that."""
        self.ahead, self.length, self.asked = ahead, length, False
        try:
            return self.number(word), self.asked
        finally:
            self.ahead = None

    def course(self, word, length):
        """(first, last) value of a number that may be a variable, over a run of so many steps: it
        must be linear in them."""
        first, changes = self.later(word, 0, length)
        if not changes or not length:
            return first, first
        last, _ = self.later(word, length, length)
        # Golden sections of the run: no period of a staircase or a wave is that of these steps.
        for k in range(1, 65):
            step = int(length * (k * 0.6180339887498949 % 1))
            wanted = first + (last - first) * step / length
            if abs(self.later(word, step, length)[0] - wanted) > 1e-9 * max(abs(first), abs(last)):
                raise NotUnderstood(f"{word}, which changes with the step and not linearly")
        return first, last

    def steady(self, word):
        """A number that may be a variable, but one that does not change with the step."""
        value, changes = self.later(word, 0)
        if changes:
            raise NotUnderstood(f"{word}, which changes with the step")
        return value

    def line(self, word):
        """(value at the step 0, change per step) of a number that is linear in the step."""
        value, changes = self.later(word, 0, None)
        if not changes:
            return value, 0.0
        now = self.keyword("step")
        slope = self.later(word, 1, None)[0] - value
        for ahead in (2, 7, 1000, 12345, 1000003):
            wanted = value + slope * ahead
            if abs(self.later(word, ahead, None)[0] - wanted) > 1e-9 * max(abs(value), abs(wanted)):
                raise NotUnderstood(f"{word}, which changes with the step and not linearly")
        slope = (self.later(word, 1000003, None)[0] - value) / 1000003
        return value - slope * now, slope

    def evaluate(self, formula):
        text = self.substitute(formula).strip().strip("\"'")
        try:
            return Formula(text, self._word, self._call).value()
        except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
            raise NotUnderstood(f"the formula {formula!r}: {error}") from None

    def _word(self, name):
        if name.startswith("v_"):
            text = self.text(name[2:])
            try:
                return float(text)
            except ValueError:
                return self.evaluate(text)
        if name in ("step", "elapsed") and self.ahead is not None:
            self.asked = True
            return self.ahead + (self.keyword("step") if name == "step" else 0.0)
        value = self.keyword(name)
        if value is None:
            raise NotUnderstood(f"{name} in a formula")
        return value

    def _call(self, name, arguments):
        """Functions that look at the run; without arguments: of what kind these are."""
        if arguments is None:
            return {"ramp": "numbers", "count": "group" if self.count else None}.get(name)
        if name == "count":
            return float(self.count(arguments))
        return self._ramp(*arguments)

    def _ramp(self, first, last):
        """From one value at the beginning of a run to another at its end."""
        if self.ends:
            return last
        if self.ahead is None:
            raise NotUnderstood("ramp() where no run is")
        if self.length is None:
            raise NotUnderstood("ramp(), which begins anew in each run, in a field")
        self.asked = True
        return first + (last - first) * self.ahead / self.length if self.length else first

    def condition(self, text):
        """The condition of `if`: numbers or words."""
        match = re.fullmatch(r"\s*(\S+)\s*(==|!=)\s*(\S+)\s*", text)
        if match and not all(re.match(r"[-+.\d]", match[i]) for i in (1, 3)):
            return (match[1] == match[3]) == (match[2] == "==")
        return bool(self.evaluate(text))


def turns(words):
    """Values of `loop`: N, or N1 N2, and perhaps pad."""
    pad = words[-1] == "pad"
    ends = [int(w) for w in words[:len(words) - pad]]
    first, last = ends if len(ends) == 2 else (1, ends[0])
    if last < first:
        raise NotUnderstood(f"a loop from {first} to {last}")
    wide = len(str(last)) if pad else 0
    return [str(k).zfill(wide) for k in range(first, last + 1)]


def closing(text, opening):
    """Behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at + 1
    raise NotUnderstood(f"the formula {text[opening:]!r}, which has no end")


def number_text(value):
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.15g}"
