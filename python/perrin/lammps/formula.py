"""Formulas of LAMMPS's variables: numbers, keywords, functions and operators with the precedence
that its manual gives them, which is another one than Python's: `-2^2` is 4, `2^3^2` is 64."""
import math
import re

from perrin.importing.lines import NotUnderstood

FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log": math.log10,
             "abs": abs, "sign": lambda v: float(v > 0) - float(v < 0), "sin": math.sin,
             "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos,
             "atan": math.atan, "atan2": math.atan2, "ceil": math.ceil, "floor": math.floor,
             "round": lambda v: math.copysign(math.floor(abs(v) + 0.5), v),
             "ternary": lambda test, yes, no: yes if test else no}
CONSTANTS = {"PI": math.pi, "yes": 1.0, "on": 1.0, "true": 1.0, "no": 0.0, "off": 0.0,
             "false": 0.0}
# The higher the number, the earlier; of the same precedence from the left to the right.
OPERATORS = {
    "||": (1, lambda a, b: float(bool(a) or bool(b))),
    "|^": (1, lambda a, b: float(bool(a) != bool(b))),
    "&&": (2, lambda a, b: float(bool(a) and bool(b))),
    "==": (3, lambda a, b: float(a == b)), "!=": (3, lambda a, b: float(a != b)),
    "<": (4, lambda a, b: float(a < b)), "<=": (4, lambda a, b: float(a <= b)),
    ">": (4, lambda a, b: float(a > b)), ">=": (4, lambda a, b: float(a >= b)),
    "+": (5, lambda a, b: a + b), "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b), "/": (6, lambda a, b: a / b), "%": (6, math.fmod),
    "^": (7, lambda a, b: a ** b)}
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|([A-Za-z_]\w*)|"
                   r"(\|\||\|\^|&&|==|!=|<=|>=|[-+*/%^<>!(),\[\]]))")


class Formula:
    """value(): of the text. word(name): the number of a word that is no function; call(name,
    arguments): of a function that is none of FUNCTIONS; without arguments of what kind they are,
    numbers or the name of a group, or None."""

    def __init__(self, text, word, call):
        self.text, self.word, self.call, self.at = text, word, call, 0
        self.tokens, place, text = [], 0, text.rstrip()
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise NotUnderstood(f"the formula {self.text!r}")
            kind = "number" if match[1] else "word" if match[2] else "sign"
            self.tokens.append((kind, match[1] or match[2] or match[3]))
            place = match.end()

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, sign):
        """Whether this sign is next, which is then read."""
        found = self.next() == ("sign", sign)
        self.at += found
        return found

    def expect(self, sign):
        if not self.take(sign):
            raise NotUnderstood(f"the formula {self.text!r}")

    def value(self):
        made = self.binary(1)
        if self.next()[0] != "end":
            raise NotUnderstood(f"the formula {self.text!r}")
        return made

    def binary(self, least):
        """What operators of at least this precedence join."""
        made = self.unary()
        while self.next()[0] == "sign" and OPERATORS.get(self.next()[1], (0,))[0] >= least:
            precedence, join = OPERATORS[self.next()[1]]
            self.at += 1
            made = join(made, self.binary(precedence + 1))
            if isinstance(made, complex):
                raise ValueError("a root of a negative number")
        return made

    def unary(self):
        if self.take("-"):
            return -self.unary()
        if self.take("!"):
            return float(not self.unary())
        return self.operand()

    def operand(self):
        kind, token = self.next()
        if self.take("("):
            made = self.binary(1)
            self.expect(")")
            return made
        if kind == "number":
            self.at += 1
            return float(token) if set(token) & set(".eE") else int(token)
        if kind != "word":
            raise NotUnderstood(f"the formula {self.text!r}")
        self.at += 1
        if self.next() == ("sign", "["):
            raise NotUnderstood(f"a formula with {token}[…]")
        if not self.take("("):
            return CONSTANTS[token] if token in CONSTANTS else self.word(token)
        return self.function(token)

    def function(self, name):
        kind = "numbers" if name in FUNCTIONS else self.call(name, None)
        if kind is None:
            raise NotUnderstood(f"a formula with {name}()")
        if kind == "group":
            group = self.next()[1]
            self.at += 1
            self.expect(")")
            return self.call(name, group)
        arguments = [self.binary(1)]
        while self.take(","):
            arguments.append(self.binary(1))
        self.expect(")")
        if name in FUNCTIONS:
            return FUNCTIONS[name](*arguments)
        return self.call(name, arguments)
