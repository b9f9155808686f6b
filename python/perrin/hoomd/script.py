"""Statements of a script, one after the other: what HOOMD-blue would be told."""
import ast
import os

import numpy as np

from perrin.hoomd.evaluate import Evaluator, Function, Scope
from perrin.hoomd.values import Bag, Path, Table, Thing, Unknown, number, touches, unknown_in
from perrin.importing.lines import Line, NotUnderstood

# What a class asks for that may change a simulation.
REACHED = ("forces", "operations", "integrator", "methods", "params", "updaters", "state")
# Expressions that may do something where they stand alone, as a statement.
ACTING = (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp,
          ast.BoolOp, ast.NamedExpr, ast.Await)
MOST = 200000  # statements and turns of loops


class Leave(Exception):
    """return, break, continue, or the end of the script."""

    def __init__(self, how, value=None):
        super().__init__(how)
        self.how, self.value = how, value


class Statements(Evaluator):
    """A part of perrin.hoomd.convert.Script, whose members it uses."""

    def read(self, text):
        tree = ast.parse(text, self.path)
        self.source = text.split("\n")
        try:
            self.block(tree.body, self.globals)
        except Leave:
            pass
        except RecursionError:
            self.list_line("a function that calls itself without end")

    def count(self):
        self.statements += 1
        if self.statements > MOST:
            self.list_line(f"the script goes on for more than {MOST} statements: what follows is "
                           "left out")
            raise Leave("exit")

    def line_at(self, node):
        last = getattr(node, "end_lineno", node.lineno)
        if isinstance(getattr(node, "body", None), list) and node.body:
            last = max(node.body[0].lineno - 1, node.lineno)
        text = " ".join(" ".join(self.source[node.lineno - 1:last]).split())
        return Line(self.path, node.lineno, text if len(text) <= 96 else text[:95] + "…")

    def list_line(self, reason, line=None):
        self.result.not_understood.append((line or self.line, reason))

    def block(self, nodes, scope):
        for node in nodes:
            self.count()
            self.line = self.line_at(node)
            handler = getattr(self, f"do_{type(node).__name__.lower()}", None)
            try:
                if handler is None:
                    if self.matters([node], scope):
                        self.list_line(f"statements like {type(node).__name__} are not translated")
                else:
                    handler(node, scope)
            except NotUnderstood as error:
                self.list_line(str(error), error.line)
            except (ArithmeticError, AttributeError, LookupError, TypeError,
                    ValueError, MemoryError) as error:
                self.list_line(f"{type(error).__name__}: {error}")

    def matters(self, nodes, scope, depth=0):
        """Whether statements name the simulation or anything of it, or functions that do."""
        for node in (node for top in nodes for node in ast.walk(top)):
            value = scope.find(node.id) if isinstance(node, ast.Name) else None
            if touches(value):
                return True
            if isinstance(value, Function) and depth < 5:
                body = value.node.body if isinstance(value.node.body, list) else [value.node.body]
                if self.matters(body, value.scope, depth + 1):
                    return True
        return False

    def do_import(self, node, scope):
        for name in node.names:
            first = name.name.split(".")[0]
            own = self.own_module(name.name)
            scope[name.asname or first] = Bag("module", **own) if own is not None else \
                Path(name.name if name.asname else first)

    def do_importfrom(self, node, scope):
        own = self.own_module(node.module or "")
        for name in node.names:
            if own is not None:
                scope.update(own if name.name == "*" else {
                    name.asname or name.name: own.get(name.name, Path(name.name))})
                continue
            if name.name == "*":
                self.list_line(f"all names of {node.module}")
                continue
            scope[name.asname or name.name] = Path(f"{'.' * node.level}{node.module or ''}."
                                                   f"{name.name}")

    def own_module(self, name):
        """The names of a module that is a file beside the script, which is read as it is."""
        path = os.path.join(os.path.dirname(os.path.abspath(self.path)), *name.split(".")) + ".py"
        if not name or not os.path.isfile(path):
            return None
        if path not in self.modules:
            self.modules[path] = scope = Scope()
            scope["__name__"] = name
            here = self.path, self.source, self.line
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            try:
                tree = ast.parse(text, path)
                self.path, self.source = path, text.split("\n")
                self.block(tree.body, scope)
            except SyntaxError:
                self.list_line(f"the module {name} is no Python")
            finally:
                self.path, self.source, self.line = here
        return self.modules[path]

    def do_assign(self, node, scope):
        value = self.value(node.value, scope)
        if isinstance(value, Unknown) and value.touches and changes(node.value):
            self.list_line(value.reason, value.line)
        for target in node.targets:
            self.assign(target, value, scope)

    def do_annassign(self, node, scope):
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def do_augassign(self, node, scope):
        old, new = self.value(node.target, scope), self.value(node.value, scope)
        if isinstance(old, Thing) and old.path == "hoomd.Operations" and \
                isinstance(node.op, (ast.Add, ast.Sub)):
            (self.add_operation if isinstance(node.op, ast.Add) else self.drop_operation)(new)
            return
        if isinstance(old, (Thing, Table)):
            raise NotUnderstood("an operation with an object of HOOMD-blue")
        if isinstance(old, list) and isinstance(node.op, ast.Add) and not isinstance(new, Unknown):
            old.extend(new)
            return
        value = self.passed_on(node, old, new) or self.operate(node, old, new)
        self.assign(node.target, value, scope)

    def assign(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope[target.id] = self.given.get(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = [value] * len(target.elts) if isinstance(value, Unknown) else list(value)
            if len(values) != len(target.elts):
                raise NotUnderstood(f"{len(values)} values for {len(target.elts)} names")
            for part, one in zip(target.elts, values):
                self.assign(part, one, scope)
        elif isinstance(target, ast.Attribute):
            self.assign_attribute(self.value(target.value, scope), target, value)
        elif isinstance(target, ast.Subscript):
            self.assign_item(self.value(target.value, scope), target,
                             self.value(target.slice, scope), value)
        else:
            raise NotUnderstood(f"an assignment to {ast.unparse(target)}")

    def assign_attribute(self, holder, target, value):
        if isinstance(holder, Thing):
            self.set_attribute(holder, target.attr, value)
        elif isinstance(holder, Bag):
            self.bag_set(holder, target.attr, value)
        elif touches(holder):
            raise NotUnderstood(f"{ast.unparse(target)} = …: "
                                f"{getattr(holder, 'reason', 'what has it is not known')}")

    def assign_item(self, holder, target, key, value):
        if isinstance(holder, Table):
            if unknown_in(key) is not None:
                raise NotUnderstood(f"types: {unknown_in(key).reason}")
            holder.put(key, value, self.line)
        elif isinstance(holder, (dict, list, np.ndarray)) and not isinstance(key, Unknown):
            if isinstance(value, Unknown) and isinstance(holder, np.ndarray):
                raise NotUnderstood(value.reason)
            holder[key] = value
        elif isinstance(holder, Thing) and holder.path == "hoomd.logging.Logger":
            return
        elif touches(holder):
            raise NotUnderstood(f"{ast.unparse(target)} = …: "
                                f"{getattr(holder, 'reason', 'what has it is not known')}")

    def do_expr(self, node, scope):
        value = self.value(node.value, scope)
        if isinstance(value, Unknown) and value.touches and isinstance(node.value, ACTING):
            self.list_line(value.reason, value.line)

    def do_pass(self, node, scope):
        pass

    do_global = do_nonlocal = do_assert = do_pass

    def do_functiondef(self, node, scope):
        scope[node.name] = Function(node, scope, (self.path, self.source))

    def do_classdef(self, node, scope):
        acts = any(isinstance(inner, ast.Attribute) and inner.attr in REACHED or
                   isinstance(inner, ast.Name) and inner.id == "hoomd" for inner in ast.walk(node))
        scope[node.name] = Unknown(f"{node.name} is a class of the script, which is not executed",
                                   self.line, acts)

    def do_return(self, node, scope):
        raise Leave("return", None if node.value is None else self.value(node.value, scope))

    def do_break(self, node, scope):
        raise Leave("break")

    def do_continue(self, node, scope):
        raise Leave("continue")

    def do_raise(self, node, scope):
        raise Leave("exit")

    def do_delete(self, node, scope):
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                del self.value(target.value, scope)[self.value(target.slice, scope)]
            else:
                raise NotUnderstood("del of an attribute")

    def do_if(self, node, scope):
        test = self.value(node.test, scope)
        if isinstance(test, Unknown):
            self.neither(node, node.body + node.orelse, scope, test)
        else:
            self.block(node.body if test else node.orelse, scope)

    def neither(self, node, body, scope, test):
        """A condition or a loop that is not known: what it would do is left out."""
        if self.matters(body, scope):
            self.list_line(f"what is in it is left out: {test.reason}")
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                scope[inner.id] = Unknown(f"{inner.id} depends on {test.reason}", self.line)

    def do_for(self, node, scope):
        items = self.value(node.iter, scope)
        if isinstance(items, Unknown) or not hasattr(items, "__iter__"):
            unknown = items if isinstance(items, Unknown) else self.unknown(node.iter, "no list")
            self.neither(node, node.body, scope, unknown)
            return
        for item in list(items):
            self.count()
            self.line = self.line_at(node)
            self.assign(node.target, item, scope)
            if not self.turn(node, scope):
                break

    def do_while(self, node, scope):
        until = any(isinstance(n, ast.Attribute) and n.attr == "converged"
                    for n in ast.walk(node.test))
        while True:
            self.count()
            line = self.line = self.line_at(node)
            test = self.value(node.test, scope)
            if isinstance(test, Unknown) and not until:
                self.neither(node, node.body, scope, test)
                return
            if not until and not test:
                return
            self.until_converged = until
            more = self.turn(node, scope)
            self.until_converged = False
            self.line = line
            if until or not more:
                return

    def turn(self, node, scope):
        try:
            self.block(node.body, scope)
        except Leave as leave:
            if leave.how == "break":
                return False
            if leave.how != "continue":
                raise
        return True

    def do_with(self, node, scope):
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, scope)
        self.block(node.body, scope)

    def do_try(self, node, scope):
        self.block(node.body, scope)
        self.block(node.orelse + node.finalbody, scope)

    def called(self, function, positional, named):
        """A function of the script, read with these arguments."""
        node, self.depth = function.node, self.depth + 1
        if self.depth > 50:
            raise NotUnderstood("a function that calls itself too often")
        scope, line, here = Scope(function.scope), self.line, (self.path, self.source)
        arguments = node.args.posonlyargs + node.args.args
        for argument, default in zip(reversed(arguments), reversed(node.args.defaults)):
            scope[argument.arg] = self.value(default, function.scope)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
            if default is not None:
                scope[argument.arg] = self.value(default, function.scope)
        for argument, value in zip(arguments, positional):
            scope[argument.arg] = value
        if node.args.vararg:
            scope[node.args.vararg.arg] = tuple(positional[len(arguments):])
        known = {a.arg for a in arguments + node.args.kwonlyargs}
        if node.args.kwarg:
            scope[node.args.kwarg.arg] = {k: v for k, v in named.items() if k not in known}
        scope.update({k: v for k, v in named.items() if k in known})
        try:
            self.path, self.source = function.file
            if isinstance(node, ast.Lambda):
                return self.value(node.body, scope)
            self.block(node.body, scope)
        except Leave as leave:
            if leave.how != "return":
                raise
            return leave.value
        finally:
            self.depth -= 1
            self.line, (self.path, self.source) = line, here
        return None

    def file(self, name):
        """A file that the script names: beside it or, if there is none, where the user is."""
        beside = os.path.join(os.path.dirname(os.path.abspath(self.path)), name)
        return beside if os.path.exists(beside) or not os.path.exists(name) \
            else os.path.abspath(name)

    def whole(self, value, name):
        return int(number(value, name, self.line))


def changes(node):
    """Whether an expression calls a function, which may change what it is given, and no class."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(
        node.func, "id", "")
    return name[:1].islower()
