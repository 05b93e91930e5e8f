"""Overlays and inverses from nothing: what this project does, in one file that can be read at once.

Left out are speed, compiled code, most of Python, and good errors: code without a source is not
entered, ``a < b < c`` and ``a += b`` run as they are, and methods take no keywords. What it does
do, the real packages do alike.
"""

import ast
import functools
import inspect
import math
import operator
import textwrap
import types

# ---- method tables ------------------------------------------------------------------------


class Table:
    """Methods by target. Of those that accept the arguments, the most specific one is taken."""

    def __init__(self):
        self.methods = {}

    def overlay(self, target):
        def decorate(method):
            hints = inspect.get_annotations(method, eval_str=True)
            kinds = [hints.get(name, object) for name in inspect.signature(method).parameters]
            self.add(target, kinds, method)
            return method

        return decorate

    def add(self, target, kinds, method):
        self.methods.setdefault(target, []).append((kinds, method))

    def find(self, target, arguments):
        fitting = [
            (kinds, method)
            for kinds, method in self.methods.get(target, ())
            if len(kinds) == len(arguments) and all(map(isinstance, arguments, kinds))
        ]
        for kinds, method in fitting:
            if all(all(map(issubclass, kinds, others)) for others, _ in fitting):
                return method
        return None


# ---- contexts -----------------------------------------------------------------------------


def call_next(*arguments):
    """Inside a method: what lies below it."""
    raise RuntimeError("call_next has a meaning inside a context only")


class Context:
    """Runs code so that each call sees the tables first, the last table before the others."""

    def __init__(self, *tables):
        self.tables = tables[::-1]
        self.rewritten = {}
        self.below = []  # for each method that runs: its target, and the tables below it

    def __call__(self, target, *arguments, **named):
        tables = self.tables
        if target is call_next:
            target, tables = self.below[-1]
        for i, table in enumerate(tables):
            method = None if named else table.find(target, arguments)
            if method is not None:
                self.below.append((target, tables[i + 1 :]))
                try:
                    return self.run(method, *arguments)
                finally:
                    self.below.pop()
        return self.run(target, *arguments, **named)

    def run(self, function, *arguments, **named):
        """Python code runs rewritten; anything else as it is."""
        if isinstance(function, types.MethodType):
            return self(function.__func__, function.__self__, *arguments, **named)
        if isinstance(function, types.FunctionType):
            if function not in self.rewritten:
                self.rewritten[function] = rewritten(function, self)
            function = self.rewritten[function]
        return function(*arguments, **named)


# ---- code in which each call asks the context ---------------------------------------------

OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow", ast.USub: "neg", ast.Lt: "lt", ast.LtE: "le",
    ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


class Rewriter(ast.NodeTransformer):
    """``f(x)`` becomes ``_context(f, x)``, ``a + b`` becomes ``_context(_operator.add, a, b)``."""

    def visit_Call(self, node):
        self.generic_visit(node)
        return asking(node.func, *node.args, keywords=node.keywords)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return operation(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return operation(node, node.op, node.operand)

    def visit_Compare(self, node):
        self.generic_visit(node)
        chained = len(node.ops) > 1
        return node if chained else operation(node, node.ops[0], node.left, *node.comparators)


def asking(target, *arguments, keywords=()):
    return ast.Call(ast.Name("_context", ast.Load()), [target, *arguments], [*keywords])


def operation(node, kind, *operands):
    if type(kind) not in OPERATORS:
        return node
    holder = ast.Name("_operator", ast.Load())
    return asking(ast.Attribute(holder, OPERATORS[type(kind)], ast.Load()), *operands)


def rewritten(function, context):
    """The same function, of which each call asks the context. Its globals are those of now."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    if not isinstance(tree.body[0], ast.FunctionDef):
        raise TypeError(f"{function} is no function that begins with def")
    tree.body[0].decorator_list = []
    tree = ast.fix_missing_locations(Rewriter().visit(tree))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    names = dict(zip(function.__code__.co_freevars, cells, strict=True))
    scope = {**function.__globals__, **names, "_context": context, "_operator": operator}
    own = dict(scope)
    exec(compile(tree, inspect.getsourcefile(function), "exec"), own)
    made = own[function.__name__]
    return types.FunctionType(made.__code__, scope, function.__name__, function.__defaults__)


# ---- inverses -----------------------------------------------------------------------------

# How an argument follows from the result, the other argument, and choices, which have names.
RULES = {
    operator.add: (lambda z, b: z - b, lambda z, a: z - a),
    operator.sub: (lambda z, b: z + b, lambda z, a: a - z),
    operator.mul: (lambda z, b: z / b, lambda z, a: z / a),
    operator.truediv: (lambda z, b: z * b, lambda z, a: a / z),
    operator.neg: (lambda z: -z,),
    abs: (lambda z, negative: -z if negative else z,),
    math.exp: (math.log,),
    math.log: (math.exp,),
    math.sqrt: (lambda z: z * z,),
    math.sin: (lambda z, turn: turn * math.pi + (-1) ** turn * math.asin(z),),
    math.cos: (lambda z, turn: (turn + turn % 2) * math.pi + (-1) ** turn * math.acos(z),),
}
CHOICES = {abs: "negative", math.sin: "turn", math.cos: "turn"}


class Unknown:
    """A number that is not known yet: an input, or the result of ``target(*arguments)``."""

    def __init__(self, name, target=None, arguments=()):
        self.name, self.target, self.arguments = name, target, arguments

    def __repr__(self):
        return self.name


def equations_of(function, inputs):
    """The function run once on unknowns, in a context that writes down what is done to them."""
    table, equations = Table(), []

    def write_down(target, *arguments):
        equations.append(Unknown(f"v{len(equations) + 1}", target, arguments))
        return equations[-1]

    for target, solvers in RULES.items():
        every = [(Unknown, object), (object, Unknown), (Unknown, Unknown)]
        for kinds in every if len(solvers) == 2 else [(Unknown,)]:
            table.add(target, kinds, functools.partial(write_down, target))
    return equations, Context(table)(function, *inputs)


class Inverse:
    """``Inverse(f)(value, theta)``: arguments for which f gives the value, by the choices theta."""

    def __init__(self, function):
        self.function = function
        self.inputs = [Unknown(name) for name in inspect.signature(function).parameters]
        self.equations, self.result = equations_of(function, self.inputs)
        self.steps = list(self.plan())

    def plan(self):
        """Pairs: an unknown, and the equation that it follows from, or None where it is chosen."""
        known, left = {self.result}, self.equations
        while left or not known.issuperset(self.inputs):
            missing = {e: unknown_in(e) - known for e in left}
            ready = [
                (*missing[e], e) for e in left if len(missing[e]) == 1 and solvable(e, *missing[e])
            ]
            chosen = [(variable, None) for variable in self.inputs if variable not in known]
            if not ready and not chosen:
                return  # what is left can only be checked
            yield (ready or chosen)[0]
            known.add((ready or chosen)[0][0])
            left = [e for e in left if missing[e] - known]

    @property
    def parameters(self):
        """The names of the choices."""
        names = [
            (v.name if e is None else f"{CHOICES.get(e.target)}_{v}", v, e) for v, e in self.steps
        ]
        return [name for name, v, e in names if e is None or (v is not e and e.target in CHOICES)]

    def __call__(self, value, theta=()):
        values, choices = {self.result: value}, iter(theta)
        for variable, equation in self.steps:
            chosen = equation is None
            values[variable] = (
                next(choices) if chosen else solved(equation, variable, values, choices)
            )
        answer = tuple(values[variable] for variable in self.inputs)
        if not math.isclose(self.function(*answer), value, rel_tol=1e-9, abs_tol=1e-12):
            raise ValueError(f"{answer} does not lead to {value}")
        return answer


def unknown_in(equation):
    return {equation, *(a for a in equation.arguments if isinstance(a, Unknown))}


def solvable(equation, variable):
    """Whether the variable stands in one place only."""
    return [equation, *equation.arguments].count(variable) == 1


def solved(equation, variable, values, choices):
    """The variable from all else in an equation: forward, or by a rule."""
    arguments = [values.get(a) if isinstance(a, Unknown) else a for a in equation.arguments]
    if variable is equation:
        return equation.target(*arguments)
    place = equation.arguments.index(variable)
    others = arguments[:place] + arguments[place + 1 :]
    chosen = [next(choices)] if equation.target in CHOICES else []
    return RULES[equation.target][place](values[equation], *others, *chosen)
