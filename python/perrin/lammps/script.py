"""The language of LAMMPS's input scripts: lines, variables, formulas, `if` and `include`."""
import ast
import math
import os
import re
import shlex

from perrin.importing.lines import Line, NotUnderstood

FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log": math.log10,
             "abs": abs, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
             "acos": math.acos, "atan": math.atan, "atan2": math.atan2, "ceil": math.ceil,
             "floor": math.floor, "round": round}
OPERATORS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b,
             ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
             ast.Mod: math.fmod, ast.Pow: lambda a, b: a ** b}
COMPARISONS = {ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b,
               ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
               ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b}


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
    """Variables of a script. `keyword` answers words of the state: lx, vol, atoms, …"""

    def __init__(self, given=None, keyword=lambda word: None):
        self.given = {k: str(v) for k, v in (given or {}).items()}
        self.values, self.open = {}, set()  # open: those that are being evaluated
        self.keyword = keyword
        self.ends = False  # ramp(a, b) is b: its value when a run ends
        # While a course is looked at: steps from now, and those of the run; whether somebody asked.
        self.ahead, self.length, self.asked = None, 0, False

    def define(self, words):
        name, style, *rest = words
        if style == "delete":
            self.values.pop(name, None)
        elif style in ("index", "string", "getenv", "loop", "equal", "internal"):
            if style == "index" and (name in self.given or name in self.values):
                return
            if style == "getenv":
                rest = [os.environ.get(rest[0], "")]
            if style == "loop":
                rest = ["1"]
            self.values[name] = (style, " ".join(rest) if style == "equal" else rest[0])
            if style == "loop":
                raise NotUnderstood("a loop: its first turn alone is translated")
        else:  # of each atom, of files, of Python: not understood where something asks for it
            self.values[name] = (style, None)

    def text(self, name):
        if name in self.given:
            return self.given[name]
        if name not in self.values:
            raise NotUnderstood(f"the variable {name} has no value; --var {name}=… gives one")
        style, value = self.values[name]
        if value is None:
            raise NotUnderstood(f"the variable {name} of the style {style}")
        if style != "equal":
            return value
        if name in self.open:
            raise NotUnderstood(f"the variable {name}, which is made of itself")
        self.open.add(name)
        try:
            return number_text(self.evaluate(value))
        finally:
            self.open.remove(name)

    def substitute(self, text):
        def immediate(match):
            inner = match[1]
            pattern = re.search(r":(%[-+0-9.]*[a-z]+)$", inner)
            value = self.evaluate(inner[:pattern.start()] if pattern else inner)
            return pattern[1] % value if pattern else number_text(value)

        text = re.sub(r"\$\(((?:[^()]|\([^()]*\))*)\)", immediate, text)
        return re.sub(r"\$\{(\w+)\}|\$(\w)", lambda m: self.text(m[1] or m[2]), text)

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
        text = text.replace("^", "**").replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"!(?!=)", " not ", text)
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            raise NotUnderstood(f"the formula {formula!r}") from None
        try:
            return self._value(tree)
        except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
            raise NotUnderstood(f"the formula {formula!r}: {error}") from None

    def _value(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](self._value(node.left), self._value(node.right))
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand)
            return {ast.USub: -value, ast.UAdd: value}.get(type(node.op), float(not value))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return float(COMPARISONS[type(node.ops[0])](self._value(node.left),
                                                        self._value(node.comparators[0])))
        if isinstance(node, ast.BoolOp):
            values = [bool(self._value(v)) for v in node.values]
            return float(all(values) if isinstance(node.op, ast.And) else any(values))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and \
                node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](*(self._value(a) for a in node.args))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and \
                node.func.id == "ramp" and len(node.args) == 2:
            return self._ramp(node)
        if isinstance(node, ast.Name):
            if node.id == "PI":
                return math.pi
            if node.id.startswith("v_"):
                text = self.text(node.id[2:])
                try:
                    return float(text)
                except ValueError:
                    return self.evaluate(text)
            if node.id in ("step", "elapsed") and self.ahead is not None:
                self.asked = True
                return self.ahead + (self.keyword("step") if node.id == "step" else 0.0)
            value = self.keyword(node.id)
            if value is not None:
                return value
            raise NotUnderstood(f"{node.id} in a formula")
        raise NotUnderstood(f"a formula with {ast.unparse(node)}")

    def _ramp(self, node):
        """From one value at the beginning of a run to another at its end."""
        if self.ends:
            return self._value(node.args[1])
        if self.ahead is None:
            raise NotUnderstood("ramp() where no run is")
        if self.length is None:
            raise NotUnderstood("ramp(), which begins anew in each run, in a field")
        self.asked = True
        a, b = (self._value(arg) for arg in node.args)
        return a + (b - a) * self.ahead / self.length if self.length else a

    def condition(self, text):
        """The condition of `if`: numbers or words."""
        match = re.fullmatch(r"\s*(\S+)\s*(==|!=)\s*(\S+)\s*", text)
        if match and not all(re.match(r"[-+.\d]", match[i]) for i in (1, 3)):
            return (match[1] == match[3]) == (match[2] == "==")
        return bool(self.evaluate(text))


def number_text(value):
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.15g}"
