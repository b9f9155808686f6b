"""Expressions of a script. Nothing of it is executed: perrin.hoomd.functions has what is evaluated,
and calls of HOOMD-blue are written down."""
import ast
import operator
import os

import numpy as np

from perrin.hoomd import functions
from perrin.hoomd.values import Bag, Path, Table, Thing, Unknown, touches, unknown_in
from perrin.importing.lines import NotUnderstood

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
             ast.Pow: functions.power, ast.MatMult: operator.matmul}
# Whose unknown attributes are measurements, read to be printed.
MEASURES = ("hoomd.md.compute", "hoomd.logging", "hoomd.write", "hoomd.device", "gsd.hoomd",
            "hoomd.hpmc.compute", "hoomd.trigger", "hoomd.Simulation", "argparse")
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
               ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_,
               ast.IsNot: operator.is_not, ast.In: lambda a, b: a in b,
               ast.NotIn: lambda a, b: a not in b}
REACHING = ("exec", "eval", "compile", "__import__", "globals", "locals")
PLAIN = (bool, int, float, str, type(None), list, tuple, dict, set, np.ndarray, np.generic)


class Scope(dict):
    """Names of a function or of the script; `outer` has those that it does not set."""

    def __init__(self, outer=None):
        super().__init__()
        self.outer = outer

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope:
                return scope[name]
            scope = scope.outer
        return None

    def knows(self, name):
        return name in self or self.outer is not None and self.outer.knows(name)


class Function:
    """A function of the script: its node, where it was defined, and the file with its lines."""

    def __init__(self, node, scope, file):
        self.node, self.scope, self.file = node, scope, file


class Evaluator:
    """Values of expressions. A part of perrin.hoomd.script.Script, whose members it uses:
    given {text of an expression: value}, line, made(path, positional, named), attribute(thing,
    name), method(thing, name, positional, named), called(function, positional, named)."""

    def value(self, node, scope):
        if self.given and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            text = ast.unparse(node)
            if text in self.given:
                return self.given[text]
        handler = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if handler is None:
            return self.unknown(node, "this expression is not evaluated")
        try:
            return handler(node, scope)
        except NotUnderstood as error:
            return Unknown(str(error), error.line or self.line, True)
        except (ArithmeticError, AttributeError, IndexError, KeyError, LookupError, TypeError,
                ValueError, MemoryError) as error:
            return self.unknown(node, f"{type(error).__name__}: {error}")

    def unknown(self, node, reason, touching=False):
        text = " ".join(ast.unparse(node).split())
        return Unknown(f"{text if len(text) < 60 else text[:57] + '…'}: {reason}"
                       if reason else text, self.line, touching)

    def passed_on(self, node, *values):
        """An unknown value among these makes the whole unknown, for its reason."""
        for value in values:
            if isinstance(value, Unknown):
                return Unknown(value.reason, self.line, any(touches(v) for v in values))
        return None

    def of_constant(self, node, scope):
        return node.value

    def of_name(self, node, scope):
        if scope.knows(node.id):
            return scope.find(node.id)
        if node.id in functions.BUILTINS or functions.harmless(node.id) or \
                node.id in ("isinstance", "hasattr", "getattr", "vars"):
            return Path(node.id)
        return self.unknown(node, "the script gives this name no value that is known")

    def of_tuple(self, node, scope):
        return tuple(self.several(node.elts, scope))

    def of_list(self, node, scope):
        return list(self.several(node.elts, scope))

    def of_set(self, node, scope):
        return set(self.several(node.elts, scope))

    def several(self, nodes, scope):
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.value(node.value, scope)
            else:
                yield self.value(node, scope)

    def of_dict(self, node, scope):
        made = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                made.update(self.value(value, scope))
            else:
                made[self.value(key, scope)] = self.value(value, scope)
        return made

    def of_joinedstr(self, node, scope):
        text = ""
        for part in node.values:
            value = self.value(part, scope)
            if isinstance(value, Unknown):
                return value
            text += str(value)
        return text

    def of_formattedvalue(self, node, scope):
        value = self.value(node.value, scope)
        form = self.value(node.format_spec, scope) if node.format_spec else ""
        missing = self.passed_on(node, value, form)
        return missing or format(value, form)

    def of_unaryop(self, node, scope):
        value = self.value(node.operand, scope)
        if isinstance(value, Unknown):
            return value
        return {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
                ast.Invert: operator.invert}[type(node.op)](value)

    def of_binop(self, node, scope):
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return self.passed_on(node, left, right) or self.operate(node, left, right)

    def operate(self, node, left, right):
        for a, b in ((left, right), (right, left)):
            if isinstance(node.op, ast.Mult) and isinstance(a, (list, tuple, str)) and \
                    isinstance(b, int) and len(a) * b > functions.LARGEST:
                raise ValueError("too long")
        if isinstance(left, (Thing, Bag, Path)) or isinstance(right, (Thing, Bag, Path)):
            return self.unknown(node, "an operation with an object of HOOMD-blue", True)
        return OPERATORS[type(node.op)](left, right)

    def of_boolop(self, node, scope):
        stops = isinstance(node.op, ast.Or)
        unknown = None
        for part in node.values:
            value = self.value(part, scope)
            if isinstance(value, Unknown):
                unknown = value
            elif bool(value) == stops:
                return value
        return unknown or value

    def of_compare(self, node, scope):
        left, verdict = self.value(node.left, scope), True
        for op, other in zip(node.ops, node.comparators):
            right = self.value(other, scope)
            missing = self.passed_on(node, left, right)
            if missing:
                return missing
            verdict = verdict and COMPARISONS[type(op)](left, right)
            left = right
        return verdict

    def of_ifexp(self, node, scope):
        test = self.value(node.test, scope)
        if isinstance(test, Unknown):
            return test
        return self.value(node.body if test else node.orelse, scope)

    def of_subscript(self, node, scope):
        holder, key = self.value(node.value, scope), self.value(node.slice, scope)
        missing = self.passed_on(node, holder, unknown_in(key))
        if missing:
            return missing
        if isinstance(holder, Table):
            value = holder.take(key)
            return value if value is not None else self.unknown(node, "has no value", True)
        if isinstance(holder, PLAIN):
            return holder[key]
        if holder == Path("sys.argv"):
            text = ast.unparse(node)
            return self.unknown(node, f'--var "{text}" … gives it a value')
        if isinstance(holder, Thing) and holder.path == "gsd.hoomd.open" and \
                isinstance(key, int):
            return self.frame_of(holder, key)
        measured = isinstance(holder, Thing) and holder.path.startswith(MEASURES)
        return self.unknown(node, "is not evaluated", touches(holder) and not measured)

    def of_slice(self, node, scope):
        return slice(*(None if part is None else self.value(part, scope)
                       for part in (node.lower, node.upper, node.step)))

    def of_index(self, node, scope):  # Python 3.8
        return self.value(node.value, scope)

    def of_lambda(self, node, scope):
        return Function(node, scope, (self.path, self.source))

    def of_listcomp(self, node, scope):
        return list(self.comprehension(node, [node.elt], scope))

    def of_generatorexp(self, node, scope):
        return list(self.comprehension(node, [node.elt], scope))

    def of_setcomp(self, node, scope):
        return set(self.comprehension(node, [node.elt], scope))

    def of_dictcomp(self, node, scope):
        return dict(self.comprehension(node, [node.key, node.value], scope))

    def comprehension(self, node, wanted, scope, depth=0):
        inner = scope if depth else Scope(scope)
        if depth == len(node.generators):
            self.count()
            values = [self.value(w, inner) for w in wanted]
            yield values[0] if len(values) == 1 else tuple(values)
            return
        loop = node.generators[depth]
        items = self.value(loop.iter, inner)
        if isinstance(items, Unknown):
            raise NotUnderstood(items.reason)
        for item in items:
            self.assign(loop.target, item, inner)
            tests = [self.value(test, inner) for test in loop.ifs]
            if any(isinstance(t, Unknown) for t in tests):
                raise NotUnderstood("a condition of the comprehension")
            if all(tests):
                yield from self.comprehension(node, wanted, inner, depth + 1)

    def of_attribute(self, node, scope):
        holder, name = self.value(node.value, scope), node.attr
        if isinstance(holder, Unknown):
            return holder
        if isinstance(holder, Path):
            full = f"{holder.name}.{name}"
            made = functions.function(full)
            if isinstance(made, (int, float, type(None))) and made is not None or \
                    full == "numpy.newaxis":
                return made
            return Path(full)
        if isinstance(holder, Thing):
            return self.attribute(holder, name)
        if isinstance(holder, Bag):
            value = getattr(holder, name, None)
            return value if hasattr(holder, name) else self.unknown(
                node, f"the {holder.kind} has no {name}", holder.kind == "snapshot")
        for kind, names in functions.ATTRIBUTES.items():
            if isinstance(holder, kind) and name in names:
                return getattr(holder, name)
        return self.unknown(node, "this attribute is not evaluated", touches(holder))

    def of_call(self, node, scope):
        if isinstance(node.func, ast.Name) and node.func.id in REACHING:
            raise NotUnderstood(f"{node.func.id} may do anything")
        positional = list(self.several(node.args, scope))
        named = {}
        for word in node.keywords:
            value = self.value(word.value, scope)
            if word.arg is None:
                if not isinstance(value, dict):
                    return self.unknown(node, "arguments that are not known", True)
                named.update(value)
            else:
                named[word.arg] = value
        everything = [*positional, *named.values()]
        if isinstance(node.func, ast.Attribute):
            holder = self.value(node.func.value, scope)
            if isinstance(holder, Thing):
                return self.method(holder, node.func.attr, positional, named)
            if isinstance(holder, Unknown) and holder.harmless:
                return holder
            if isinstance(holder, Unknown):
                return Unknown(holder.reason, self.line,
                               holder.touches or any(touches(v) for v in everything))
            if not isinstance(holder, (Path, Bag)):
                return self.plain_method(node, holder, positional, named)
            if isinstance(holder, Bag):
                return self.bag_method(node, holder, positional, named)
        target = self.value(node.func, scope)
        if isinstance(target, Function):
            return self.called(target, positional, named)
        if isinstance(target, Thing) and target.path.startswith("hoomd.variant."):
            return self.course_of(target, "variant", positional[0], 0, self.line)[0]
        if isinstance(target, Path):
            return self.path_call(node, target.name, positional, named)
        return self.unknown(node, getattr(target, "reason", "a call that is not evaluated"),
                            any(touches(v) for v in (target, *everything)))

    def path_call(self, node, name, positional, named):
        if name.split(".")[0] in ("hoomd", "gsd", "argparse"):
            return self.made(name, positional, named)
        if name == "isinstance" and isinstance(positional[1], Path):
            return isinstance(positional[0], Thing) and positional[0].path == positional[1].name
        if name == "vars":
            return dict(vars(positional[0]))
        if name in ("os.path.exists", "os.path.isfile", "os.path.isdir"):
            path = positional[0]
            if isinstance(path, Unknown):
                return path
            return os.path.exists(self.file(str(path))) or str(path) in self.written
        if name in ("numpy.loadtxt", "numpy.genfromtxt") and isinstance(positional[0], str):
            return self.numbers_of(self.file(positional[0]), named)
        if functions.harmless(name):
            return Unknown(f"{name} is not evaluated", self.line, harmless=True)
        made = functions.BUILTINS.get(name) or functions.function(name)
        everything = [*positional, *named.values()]
        if made is None or not callable(made):
            return self.unknown(node, f"{name} is not evaluated",
                                any(touches(v) for v in everything))
        missing = self.passed_on(node, *everything)
        if missing:
            return missing
        if name in ("numpy.array", "numpy.asarray") and "dtype" in named and \
                isinstance(named["dtype"], Path):
            named = {**named, "dtype": {"int": int, "float": float}.get(named["dtype"].name)}
        return made(*positional, **{k: v for k, v in named.items() if not isinstance(v, Path)})

    def numbers_of(self, path, named):
        """A table of numbers beside the script."""
        if not os.path.isfile(path):
            raise NotUnderstood(f"the file {os.path.basename(path)} is not there")
        skip = named.get("skip_header", named.get("skiprows", 0))
        return np.genfromtxt(path, delimiter=named.get("delimiter"), skip_header=int(skip))

    def plain_method(self, node, holder, positional, named):
        held = isinstance(holder, (list, dict))  # it may have what is not known
        missing = None if held else self.passed_on(node, *positional)
        if missing:
            return missing
        if isinstance(holder, list) and node.func.attr not in ("append", "insert"):
            lost = next(filter(None, map(unknown_in, positional)), None)
            if lost is not None:  # the list may be that of the forces
                raise NotUnderstood(lost.reason)
        for kind, names in functions.METHODS.items():
            if isinstance(holder, kind) and node.func.attr in names:
                value = getattr(holder, node.func.attr)(*positional, **named)
                return list(value) if type(value).__name__.startswith("dict_") else value
        return self.unknown(node, "this call is not evaluated", touches(holder))
