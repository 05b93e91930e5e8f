"""A strategy that writes programs: text with holes, filled with text with holes.

In every body the names ``x``, ``a`` and ``b`` are numbers. Every function calls ``enter`` first,
which ends a program that has called very much, so that each program ends. Functions with a
cache have no effects, and what decorates them has none: a context has caches of its own, so
that it may call such a function where the cache outside has the result already.
"""

import re

from hypothesis import strategies as st

__all__ = ["programs"]

PRELUDE = """\
import contextlib, dataclasses, enum, functools, itertools, operator, typing
x = a = b = 1
LOG, FUEL, TARGETS, ENTERED = [], [150], dict(), []

class OutOfFuel(BaseException):
    pass

class Error(Exception):
    def __init__(self, value=0, *rest):
        super().__init__(value, *rest)
        self.value = value

def log(*values):
    if len(LOG) < 2000:
        LOG.append(values)
    return values[-1]

def enter(name, value=None):
    ENTERED.append(name)
    LOG.append((name, value) if type(value) is int else name)
    FUEL[0] -= 1
    if FUEL[0] < 0:
        raise OutOfFuel

def target(name):
    def register(function):
        TARGETS[name] = function
        return function
    return register

def drive(awaitable):
    try:
        while True:
            log("step", awaitable.send(None))
    except StopIteration as stopped:
        return stopped.value

class Pause:
    def __init__(self, value):
        self.value = value
    def __await__(self):
        yield self.value
        return self.value + 1

def identity(x):
    return x

def numbers(x):
    enter("numbers", x)
    yield x
    got = yield x + 1
    log("sent", got)
    return x

async def waiting(x):
    enter("waiting", x)
    return await Pause(x)

def plain(function):
    return function

class Base:
    def __init__(self, start=1):
        self.value = start
    def go(self, x):
        return self.value + x
    def add(self, x=1):
        self.value += x
        return self

def manager(x):
    return contextlib.nullcontext(x)

class Countable:
    def __init__(self, end):
        self.end = end
    def __iter__(self):
        self.at = 0
        return self
    @target("next")
    def __next__(self):
        enter("next", self.at)
        self.at += 1
        if self.at > self.end:
            raise StopIteration
        return self.at

class Named:
    @target("set name")
    def __set_name__(self, owner, name):
        enter("set name")
        self.name = "_" + name
    @target("get")
    def __get__(self, instance, owner):
        enter("get")
        return self if instance is None else getattr(instance, self.name, 0)
    @target("set")
    def __set__(self, instance, value):
        enter("set", value)
        setattr(instance, self.name, value)

class Watched:
    level = Named()
    def __init__(self, level):
        self.level = level
    @target("getattr")
    def __getattr__(self, name):
        enter("getattr")
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)
    @target("getitem")
    def __getitem__(self, x):
        enter("getitem", x)
        return self.level + x
    def __contains__(self, x):
        return x == self.level
    @target("bool")
    def __bool__(self):
        enter("bool")
        return self.level > 2
    def __neg__(self):
        return -self.level
    def __repr__(self):
        return f"<{self.level:>3}>"
"""

# What stands for what: {e} a number, {f} a function of a number, {s} statements, {d} perhaps a
# definition, {k} a small number, {g} a generator function, {w} a coroutine function, {c} a
# class, {m} what gives a context manager, {t} a decorator, {r} a name of a global function,
# {1} {2} .. fresh names. The first of each list is the simplest; leaves come before a "|"; what
# stands after a "~" runs code that no call instruction calls; what stands after a "!" runs code
# that C code calls, or calls with wrong arguments.
NUMBERS = """
x
a
b
{k}
|
({e} + {e})
({e} * {e} % 1009)
({e} - {e})
({e} // (1 + {k}))
({e} // ({e} % 5))
(7, {e}, {e})[{k}]
{f}({e})
{f}({e})
{f}({e})
{f}(x)
!{f}(x={e}) if {k} else a
{f}(*[{e}])
{f}(*(), *({e},), **{{}})
{f}({f}({e}))
({f} if {e} % 2 else {f})({e})
({f} or {f})({e})
({f} and {f})({e})
({e} if {f}({e}) % 2 else {f}({e}))
({e} or {f}({e}))
({f}({e}) and {f}({e}))
(0 < {e} <= {f}({e}) < {e})
[{f}, {f}, {f}][{e} % 3]({e})
dict(p={f}, q={f})["pq"[{e} % 2]]({e})
(lambda x: {e})({e})
(lambda x, *rest, y={e}: x + y + len(rest))({e}, {e}, *range({k}))
sum([{e} for x in range({k})])
sum({e} for x in range({k}))
sum({{{e} % 7 for x in range({k})}})
sum({{x: {e} for x in range({k})}}.values())
sum([{e} for x in range({k}) if {e} % 2 for a in range(2)])
sum([f(x) for f in [{f}, {f}] for x in range({k})])
sum([f(1) for f in [lambda y: i + y + {e} for i in range({k})]])
len([[{e} for x in range(2)] for x in range({k})])
sum(map({f}, range({k})))
sum(map(lambda x: {e}, [{e}, {e}]))
len(list(filter({f}, range({k}))))
sorted([{e}, {e}, {e}], key={f})[0]
max({e}, {e}, key={f})
min([{e}, {e}], key=lambda x: -{e}, default=0)
functools.reduce(lambda x, a: {e}, range({k}), {e})
functools.reduce(operator.add, map({f}, range({k})), 0)
functools.partial({f}, {e})()
functools.partial({f})({e})
functools.partial(lambda x, y, z=1: x + y * z, {e}, z={e})({e})
functools.lru_cache({f})({e})
{c}().go({e})
{c}({e}).go({e})
{c}(start={e}).go(x={e})
{c}({e}).add({e}).add().go({e})
{c}(*[{e}]).add(**dict(x={e})).value
{c}.go({c}(), {e})
getattr({c}({e}), "go")({e})
!operator.methodcaller("go", {e})({c}())
sum({g}({e}))
sum([*{g}({e}), *{g}({k})])
next({g}({e}), {e})
drive({w}({e}))
(lambda x, y: len(f"{{x:>{{y % 9}}}} {{y!r}} {{max(x, y)=}}"))({e}, {f}({e}))
int(str({e}))
len([{e}, {e}].__add__([{e}]))
{f}.__call__({e})
len("-".join(map(str, [{e}, {e}])).split("-", {k}))
abs({e})
divmod({e}, 7)[1]
isinstance({e}, int) + callable({f})
eval("x + 1", {{"x": {e}}})
[].append({e}) or {e}
sum([y for x in range(2) for y in [x, {e}, *[{e} for _ in range(x)]] if y % 3])
sum({f}(x) for x in (a for a in range({k})) if {f}(x) % 2)
(lambda x, *, y={e}, **more: x + y + more.get("z", {e}))({e}, **{{"z": {e}}})
(lambda *args, k={k}: sum(args) + k)(*range({k}), *[{e}], k={e})
(a := {f}({e})) + (lambda b: (b := b + {e}))({e})
len(f"{{({e})!r:>{{{k}}}}}{{{f}({e}):x<4}}")
len("%s %d" % ({f}({e}), {e})) + len("{{}} {{0}}".replace(" {{0}}", "").format({f}({e})))
list({{"p": {f}, "q": [{f}({e})]}}.values())[0]({e})
[*map(operator.methodcaller("__add__", {e}), [{e}])][0]
(lambda f: f(f, {k}))(lambda f, n: {e} if n == 0 else f(f, n - 1) + {f}(n))
{c}().value
getattr({c}, "go")({c}({e}), x={e})
{c}.add({c}(), {e}).value
next(iter([{f}]))({e})
(({f}, {f})[{k} % 2])({e})
sum([await_({e}) for await_ in [{f}, identity]])
"""

STATEMENTS = """
a = {e}
---
b = {e}
---
log({e})
|
a += {e}
---
a, b = {e}, {e}
---
a, *_ = [{e}, {e}]
---
log(a, {e}, {f}({e}))
---
log(sorted(locals()))
---
if {e} % 2:
    {s}
else:
    {s}
---
if (b := {e}) > 3 and (a := {f}(b)) % 2:
    {s}
---
for x in range({k}):
    {s}
---
for a, x in enumerate([{e}, {e}]):
    {s}
    if {e} % 3 == 0:
        continue
    {s}
else:
    {s}
---
while b % 4:
    enter("loop", b)
    b = b // 2 if b > 0 else 0
    {s}
    if {e} == 2:
        break
---
for x in {g}({e}):
    {s}
---
try:
    {s}
except (Error, ZeroDivisionError) as {1}:
    log(type({1}).__name__)
    {s}
else:
    {s}
finally:
    {s}
---
try:
    {s}
    a = {f}({e}) // (b % 2)
except ZeroDivisionError:
    b = 1
    {s}
---
try:
    raise Error({e})
except Error as {1}:
    log({1}.value, {e})
---
try:
    try:
        raise Error({e})
    except Error as {1}:
        raise KeyError({e}) from {1}
except LookupError as {1}:
    log({1}, {1}.__cause__.value)
---
try:
    try:
        raise Error({e})
    except Error:
        {s}
        raise
    finally:
        {s}
except Error as {1}:
    log({1}.args)
---
if {e} % 5 == 3:
    raise Error({e}, {e})
---
try:
    raise ExceptionGroup("g", [Error({e}), KeyError({e})])
except* Error as {1}:
    log(len({1}.exceptions), {e})
except* KeyError:
    a = {e}
---
!try:
    {f}()
except TypeError as {1}:
    log(str({1}))
---
!try:
    {c}(1, 2, nothing={e})
except TypeError as {1}:
    log(str({1}))
---
with {m}({e}) as b:
    {s}
---
with {m}({e}), {m}({e}) as a:
    {s}
    log({f}({e}))
---
match ({e} % 4, {e}):
    case (0, a):
        {s}
    case (1, b) if {e} % 2:
        {s}
    case (int() as a, _):
        {s}
---
{1} = []
{2} = {1}.append
{2}({e})
{2}({f}({e}))
log({1})
---
{1} = {f}
a = {1}({e}) + {1}({e})
---
{1} = {c}({e})
{2} = {1}.go
log({2}({e}), {2}.__self__ is {1}, {2}.__func__ is {c}.go)
---
{1} = {{"f": {f}, "g": lambda x: {e}}}
for {2} in "fgf":
    b = {1}[{2}]({e})
---
{1} = [lambda y, i=i: {e} + i + y for i in range({k})]
log([{2}({e}) for {2} in {1}])
---
{1} = []
for x in range({k}):
    def {2}(y):
        return x + y + {e}
    {1}.append({2})
log([{2}(1) for {2} in {1}])
---
{1} = {g}({e})
log(next({1}, None))
with contextlib.suppress(StopIteration, Error):
    log({1}.send({e}))
    log({1}.throw(Error({e})))
{1}.close()
---
{1} = {g}({e})
log(next({1}, None))
try:
    {1}.throw(KeyError({e}))
except (KeyError, StopIteration) as {2}:
    log(type({2}).__name__)
---
def {1}():
    global {r}
    def {r}(x):
        enter("new {r}", x)
        return {e}
{1}()
log({r}({e}))
---
{c}.go = lambda self, x: enter("new go", x) or {e}
log({c}().go({e}))
---
log({f}.__class__.__name__, {f} is {f})
---
log(list(itertools.accumulate([{e}, {e}], lambda x, y: x + y)))
log(list(itertools.starmap(lambda x, y: {e} + y, [(1, 2), (3, {e})])))
---
log(*[list(v) for _, v in itertools.groupby(range(3), key={f})])
---
{1} = [{e}, {e}]
{1}.sort(key={f}, reverse={k} > 2)
{1}[{k} % 2] = {1}[-1] + {e}
log({1}, {e} in {1}, not {1})
---
del b
b = {f}({e})
---
pass; {f}({e}); {f}({e})
---
assert {e} != 3, {e}
---
a = ({f}
     ({f}(
        {e})))
---
if {k} > 3: return {e}
---
for x in range({k}):
    try:
        {s}
        if {e} % 3 == 1:
            continue
        if {e} % 4 == 1:
            break
        if {e} % 5 == 1:
            return {e}
    except Error:
        log("passed", {e})
        break
    else:
        {s}
    finally:
        log({f}({e}))
else:
    {s}
---
while True:
    enter("endless", a)
    try:
        a = {e}
        break
    finally:
        b = {f}({e})
---
try:
    try:
        raise Error({e})
    finally:
        log({f}({e}))
        {s}
except Error as {1}:
    with contextlib.suppress(Error):
        raise {1} from Error({f}({e}))
---
for x in range(2):
    with {m}({e}) as b:
        if {e} % 2:
            continue
        {s}
        if {e} % 3:
            break
    log("round", x, {e})
---
~with contextlib.ExitStack() as {1}:
    a = {1}.enter_context({m}({e}))
    {1}.callback({f}, {e})
    {1}.callback(lambda y: log("left", y), {e})
    {s}
---
match [{e}, {f}({e}), {e}]:
    case [0, *_] | [_, 0, *_]:
        {s}
    case [int(a), *{1}] if {f}(a) % 2:
        log({1})
        {s}
    case {2}:
        log({2})
---
match {{"p": {e}, "q": {{"r": {f}({e})}}}}:
    case {{"p": 0}}:
        {s}
    case {{"p": a, "q": {{"r": b}}, **{1}}}:
        log({1}, {f}(a))
---
match {c}({e}):
    case Base(value=0 | 1 as a):
        {s}
    case object(value=b):
        log({f}(b))
---
{1} = {{"x": {e}, "y": {f}({e})}}
del {1}["x"]
{1}["z"] = {1}.pop("y") + {e}
log(sorted({1}.items(), key=lambda pair: (pair[0], {f}(pair[1]))))
---
{1} = {c}({e})
{1}.value = {f}({1}.value)
{1}.value += {e}
log({1}.value, {1}.go({e}))
---
global {3}
{3} = {e}
def {1}():
    global {3}
    {3} = {f}({3}) + {e}
    return {3}
log({1}(), {1}(), {3})
del {3}
---
(*{1}, {2}), (a, *_) = [[{e}, {e}], [{f}({e}), {e}]]
log({1}, {2}, a)
---
def {1}(x=a, *, y=b):
    nonlocal_free = [x, y]
    def {2}():
        nonlocal x, y
        x, y = y + {e}, {f}(x)
        return nonlocal_free
    return {2}() + {2}() + [x, y]
log({1}(), {1}({e}), {1}(y={e}))
---
{1} = ({f}(x) + y for x in range({k}) for y in [{e}])
log(next({1}, None), list({1}))
---
class {1}:
    {2} = [{f}(x) for x in range({k})]
    {3} = {e}
    def go(self, x):
        return x + self.{3} + len(self.{2})
log({1}().go({e}))
---
{1} = {g}({e})
try:
    while True:
        log({1}.send(None))
except StopIteration as {2}:
    log("returned", {2}.value)
---
{1} = {w}({e})
try:
    {1}.send(None)
    {1}.throw(Error({e}))
except (Error, StopIteration) as {2}:
    log(type({2}).__name__)
finally:
    {1}.close()
---
{1} = functools.partial({f})
{2} = functools.partial({1}, {e})
log({2}(), functools.partial({c}, {e})().go({e}))
---
log(list(zip(map({f}, [{e}, {e}]), filter({f}, [{e}, {e}]), {g}({e}))))
---
exec("def {1}(x):\\n    return hidden(x) + 1\\nlog({1}(x))", dict(hidden={f}, log=log, x={e}))
---
~log(f"{{{c}({e}).value}}", [{f}(x) for x in Countable({k})])
---
~class {1}({c}):
    {2} = {3} = Named()
{1} = {1}({e})
{1}.{3} = {e}
log({1}.{2}, {1}.go({e}))
---
~log([x.level for x in sorted([Watched({e}), Watched({e})], key=lambda x: x.level)], {f}({e}))
---
~{1} = Watched({e})
{1}.level = {e}
log({1}.level, {1}.other, {1}[{k}], {e} in {1}, bool({1}), -{1})
"""

# A line "kind: text" says what a definition gives.
DEFINITIONS = """
def {1}(x):
    enter("{1}", x)
    a = b = x
    {d}
    {s}
    return {e}
r: {1}
f: {1}
---
def {1}(x, k={k}, *, w=2):
    enter("{1}", x)
    a, b = k, w
    {s}
    return {e}
def {2}(*args, **kwargs):
    enter("{2}")
    return {1}(*args, **kwargs)
f: {1}
f: {2}
f: functools.partial({2}, w={k})
f: (lambda x: {2}(x, {k}, w=x))
---
def {1}(x):
    enter("{1}", x)
    a = b = x
    def {2}(x):
        nonlocal a
        b = x
        {s}
        return a + {e}
    {s}
    return {2}({e}) + {2}(a)
f: {1}
---
def {1}(x=1):
    enter("{1}", x)
    a = b = x
    def {2}(x=0):
        nonlocal a
        a += x
        return a
    def {3}(x):
        {2}({e})
        return {2}(x)
    log({2}({e}))
    return {3}
{4} = {1}({k})
f: {4}
f: {1}({k})
---
def {1}(x):
    enter("{1}", x)
    def {2}(n):
        return {e} if n <= 0 else n + {2}(n - 1)
    def {3}(n):
        return n <= 0 or {4}(n - 1)
    def {4}(n):
        return n > 0 and {3}(n - 1)
    a = b = x
    return {2}({e} % 4) + {3}({k})
f: {1}
---
class {1}({c}):
    @target("{1}.__init__")
    def __init__(self, start={k}, *, step=1):
        enter("{1}.__init__", start)
        super().__init__(start)
        self.step = step
    @target("{1}.go")
    def go(self, x):
        enter("{1}.go", x)
        a = b = self.step
        {s}
        return super().go(x) + {e}
    @classmethod
    @target("{1}.make")
    def make(cls, x={k}):
        enter("{1}.make", x)
        return cls(x, step={k})
    @staticmethod
    @target("{1}.static")
    def static(x):
        enter("{1}.static", x)
        a = b = x
        return {e}
    @property
    def double(self):
        return self.go(2)
    def __call__(self, x):
        log("called", x)
        a = b = self.value
        return self.go({e})
    def use(self, x):
        return self.make(x).go(self.value) + self.static(x) + type(self).static(1)
{2} = {1}.make()
c: {1}
f: {1}.static
f: {2}
f: {2}.go
f: {2}.static
f: {1}({k}, step=2).use
~f: (lambda x: {1}.make(x).double)
---
class {1}:
    __slots__ = ("value", "__weakref__")
    made = {k}
    def __new__(cls, start={k}, **more):
        enter("{1}.__new__", start)
        return super().__new__(cls)
    def __init__(self, start={k}, **more):
        self.value = start
        type(self).made += 1
    def go(self, x):
        a = b = self.value
        {s}
        return {e}
    def add(self, x=1):
        self.value += x
        return self
    def __add__(self, x):
        return self.go(x)
    def __eq__(self, x):
        raise Error("compared")
    def __getitem__(self, x):
        return {f}(x)
    def __len__(self):
        return 1 + self.value % 2
    __call__ = go
c: {1}
f: {1}()
~f: (lambda x: {1}(x) + {e})
~f: (lambda x: {1}(x)[x] + len({1}(x)))
---
class {1}(type):
    def __call__(cls, *args, **kwargs):
        enter("{1}.__call__")
        return super().__call__(*args, **kwargs)
class {2}({c}, metaclass={1}):
    __hash__ = None
    def __call__(self, x):
        return self.go({e})
c: {2}
f: {2}()
---
def {1}(x):
    enter("{1}", x)
    a = b = x
    try:
        {s}
        got = yield {e}
        log("got", got)
        {s}
        yield from {g}({e})
        return {e}
    except Error as error:
        yield error.value
    finally:
        log("closed", {e})
g: {1}
---
def {1}(x):
    enter("{1}", x)
    a = b = x
    for x in range({k}):
        {s}
        yield {f}({e})
    a = yield from ({e} for x in range({k}))
def {2}(x):
    return list({1}(x))[-1:] and {e}
g: {1}
f: {2}
g: (lambda x: (f(x) for f in [{f}, {f}]))
---
async def {1}(x):
    enter("{1}", x)
    a = b = x
    {s}
    a = await {w}({e})
    return {f}(a) + [await {w}(x) for x in range({k})][-1] if x % 2 else {e}
def {2}(x):
    return drive({1}(x))
w: {1}
f: {2}
---
~async def {1}(x):
    a = b = x
    async def {2}(x):
        for x in range({k}):
            yield await {w}({e})
    async for b in {2}(x):
        {s}
    async with contextlib.AsyncExitStack() as stack:
        stack.callback({f}, {e})
    return sum([a async for a in {2}({e})])
w: {1}
---
def {1}(fn):
    log("decorating")
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        enter("{1}.inner")
        return fn(*args, **kwargs)
    return inner
def {2}(x):
    def decorate(fn):
        return lambda *args: fn(*args) + x
    return decorate
@{1}
@{t}
@{2}({k})
@target("{3}")
def {3}(x):
    enter("{3}", x)
    a = b = x
    {s}
    return {e}
t: {1}
t: {2}({k})
f: {3}
f: {1}({f})
---
@functools.lru_cache(maxsize=2)
@plain
@(lambda fn: functools.wraps(fn)(lambda *args: fn(*args) + {k}))
def {1}(x):
    return x * {k} + 1
@functools.cache
def {2}(x):
    return {1}(x) + x
f: {1}
f: {2}
f: (lambda x: functools.lru_cache({2})(x))
---
~class {1}:
    def __init__(self, x):
        self.x = x
    @target("{1}.enter")
    def __enter__(self):
        enter("{1}.enter", self.x)
        return {f}(self.x)
    def __exit__(self, kind, error, trace):
        log("exit", kind and kind.__name__)
        a, b, x = self.x, 1, 2
        return bool({e} % 2) and not issubclass(kind or int, BaseException) or kind is Error
@contextlib.contextmanager
def {2}(x):
    enter("{2}", x)
    a = b = x
    try:
        yield {e}
    except Error as error:
        log("caught", error.args)
    finally:
        {s}
m: {1}
m: {2}
---
{1} = [lambda x: {e}, lambda x, *a: {e}, {f}]
{2} = dict(zip("abc", {1}))
{3}, {4}, _ = {1}
f: {1}[{k} % 3]
f: {2}["b"]
f: {3}
f: {4}
f: (lambda x: {2}["c"](x))
---
@target("{1}")
def {1}(x):
    enter("{1}", x)
    a = b = x
    {s}
    return {f}(x) + {e}
@target("{2}")
def {2}(x, /, *more, a=1, b=2, **named):
    enter("{2}", x)
    {s}
    return {1}(x) + sum(more) + {e}
f: {1}
f: {2}
f: functools.partial({2}, {k}, b={k})
f: (lambda x: {2}(x, *range({k}), **{{"a": x, "z": 1}}))
---
@dataclasses.dataclass
class {1}:
    value: int = {k}
    more: list = dataclasses.field(default_factory=lambda: [{e}])
    def __post_init__(self):
        {f}(self.value)
    @target("{1}.go")
    def go(self, x):
        enter("{1}.go", x)
        a = b = x
        {s}
        return self.value + {e} + len(self.more)
    def add(self, x=1):
        return dataclasses.replace(self, value=self.value + x)
    def __call__(self, x):
        return self.go(x)
@dataclasses.dataclass(order=True, frozen=True)
class {2}:
    value: int
    twice: int = dataclasses.field(init=False, compare=False, default={k})
    @classmethod
    @target("{2}.of")
    def of(cls, x):
        enter("{2}.of", x)
        return sorted([cls(x), cls({f}(x))])[0]
f: {1}({k})
f: {1}({k}, [{k}]).go
f: (lambda x: {2}.of(x).value)
---
class {1}(typing.NamedTuple):
    value: int = {k}
    step: int = 1
    def go(self, x):
        enter("{1}.go", x)
        return self.value + self._replace(value=x).value
    @classmethod
    def make(cls, x):
        return cls._make([x, {f}(x)])
f: {1}().go
f: {1}.make({k}).go
---
class {1}:
    @target("{1}.go")
    def go(self, x):
        enter("{1}.go", x)
        a = b = x
        {s}
        return {e} if x < 0 else super().go(x)
class {2}:
    @target("{2}.go")
    def go(self, x):
        enter("{2}.go", x)
        return super().go({f}(x))
class {3}({1}, {2}, Base):
    registry = []
    def __init_subclass__(cls, /, tag={k}, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.registry.append(tag)
    @target("{3}.go")
    def go(self, x):
        enter("{3}.go", x)
        return super({3}, self).go(x) + len(self.registry)
class {4}({3}, tag={k}):
    go = functools.partialmethod({3}.go)
    also = staticmethod({f})
    def both(self, x):
        return self.also(x) + {3}.go(self, x)
c: {3}
c: {4}
f: {3}({k}).go
f: {4}.also
f: {4}().both
---
@functools.singledispatch
def {1}(x):
    enter("{1}", x)
    a = b = 0
    return {e} if x is None else 1
@{1}.register
def _(x: int):
    enter("{1} int", x)
    a = b = x
    {s}
    return {e}
@{1}.register(list)
def _(x):
    return sum(map({1}, x))
f: {1}
f: (lambda x: {1}([x, x]))
---
def {1}(*classes):
    def decorate(cls):
        log("class", cls.__name__)
        cls.extra = {f}
        return cls
    return decorate
@{1}({c})
class {2}:
    value = {k}
    def __new__(cls, x={k}):
        self = object.__new__(cls)
        self.made = {f}(x)
        return self
    def go(self, x):
        return x + type(self).extra(x) + self.made
    def add(self, x=1):
        return self.__class__(x)
f: {2}.extra
f: {2}().go
c: {2}
---
def {1}(x):
    enter("{1}", x)
    a = b = x
    for x in range({k} + 1):
        try:
            {s}
            if {e} % 3 == 0:
                return {f}({e})
        except ZeroDivisionError:
            return log("divided")
        finally:
            log("finally", {e})
            if x > 2:
                return {e}
    return {e}
f: {1}
---
def {1}(x):
    enter("{1}", x)
    a = b = x
    try:
        got = yield {e}
        while True:
            enter("got")
            got = yield (got or 0) + {f}({e})
    except GeneratorExit:
        log("exit", {f}(1))
        raise
    except Error as error:
        return error.value
def {2}(x):
    enter("{2}", x)
    result = yield from itertools.islice({1}(x), {k})
    inner = {1}(x)
    yield next(inner)
    try:
        yield inner.send({e} if (a := x) and (b := x) else 1)
        inner.throw(Error(x))
    except StopIteration as stopped:
        return stopped.value
    finally:
        inner.close()
g: {2}
---
async def {1}(x):
    enter("{1}", x)
    a = b = x
    try:
        {s}
        return await {w}({f}({e}))
    finally:
        await Pause(1)
        log("closed", {e})
@contextlib.asynccontextmanager
async def {2}(x):
    enter("{2}", x)
    yield await {1}(x)
def {3}(x):
    coroutine = {1}(x)
    coroutine.send(None)
    try:
        coroutine.throw(Error(x))
    except (Error, StopIteration):
        return 1
    finally:
        coroutine.close()
    return 2
w: {1}
f: {3}
---
~class {1}(enum.Enum):
    ONE = {k}
    TWO = {k} + 7
    @property
    def doubled(self):
        return {f}(self.value)
    @classmethod
    @target("{1}.missing")
    def _missing_(cls, value):
        enter("{1}.missing", value)
        return cls.ONE
f: (lambda x: {1}(x).doubled + sum(each.value for each in {1}))
---
~class {1}({c}):
    @target("{1}.told")
    def __init_subclass__(cls, /, **kwargs):
        enter("{1}.told")
        super().__init_subclass__(**kwargs)
        cls.extra = {f}
    first = Named()
class {2}(type):
    @classmethod
    @target("{2}.prepared")
    def __prepare__(cls, name, bases, **kwargs):
        enter("{2}.prepared", len(bases))
        return dict(early={k})
    @target("{2}.new")
    def __new__(cls, name, bases, namespace, **kwargs):
        enter("{2}.new")
        return super().__new__(cls, name, bases, namespace)
def {3}(x):
    enter("{3}", x)
    a = b = x
    class {4}({1}):
        level = Named()
    class {5}(metaclass={2}):
        late = {f}(early)
    {4}().level = x + {5}.late
    return {4}.extra(x) + len("%s %r {{}}".format({k}) % (Watched(x), Watched({e})))
c: {1}
f: {3}
---
~class {1}({c}):
    @functools.cached_property
    @target("{1}.cached")
    def cached(self):
        enter("{1}.cached")
        return {f}(self.value)
    @property
    def level(self):
        return self.value + 1
    @level.setter
    def level(self, x):
        a = b = x
        {s}
        self.value = {e}
    @target("{1}.lt")
    def __lt__(self, other):
        enter("{1}.lt")
        return self.value < other.value
    def use(self, x):
        self.level = x
        self.level += 1
        return self.cached + self.level + min([self, type(self)(x)]).value
f: {1}({k}).use
---
@target("{1}")
def {1}(x, n={k}):
    enter("{1}", x)
    a = b = x
    if n <= 0:
        return {e}
    return {2}(x, n - 1) + sum({1}(x, n - 2) for _ in range(n % 2))
@target("{2}")
def {2}(x, n=1):
    enter("{2}", x)
    return (lambda again: again(x, n - 1))({1})
f: {1}
f: {2}
f: functools.partial({1}, n={k})
"""


def _read(text):
    """Leaves, and all; each a text with holes."""
    leaves, _, rest = text.strip("\n").partition("\n|\n")
    split = "\n---\n" if "\n---\n" in text else "\n"
    first = leaves.split(split)
    return first, [*first, *(rest.split(split) if rest else [])]


_TEXTS = {"e": _read(NUMBERS), "s": _read(STATEMENTS), "d": _read(DEFINITIONS)}
_SIMPLEST = {
    **{"f": "identity", "g": "numbers", "w": "waiting", "t": "plain"},
    **{"c": "Base", "m": "manager", "r": "identity"},
}
_HOLE = re.compile(r"^( *)\{([sd])\}$|\{([a-z0-9])\}", re.MULTILINE)


class _Author:
    """integer(low, high): draws one, both included. without: marks of what is left out."""

    def __init__(self, integer, without):
        self.integer = integer
        self.given = {kind: [name] for kind, name in _SIMPLEST.items()}
        self.names = 0
        self.left = 60  # holes that may still be filled with more than a leaf
        self.texts = {
            kind: [[t.lstrip("~!") for t in texts if t[0] not in without] for texts in both]
            for kind, both in _TEXTS.items()
        }
        self.gives = re.compile(r"[a-z]: " if "~" in without else r"~?[a-z]: ")

    def pick(self, values):
        return values[self.integer(0, len(values) - 1)]

    def fill(self, text, depth, names=None):
        """The text with its holes filled."""
        names = {} if names is None else names

        def filled(match):
            kind = match[2] or match[3]
            if kind == "d":
                found = self.local(depth - 1)
            elif kind == "s":
                found = "\n".join(self.statement(depth - 1) for _ in range(self.pick((1, 2))))
            elif kind == "e":
                found = self.fill(self.chosen("e", depth - 1), depth - 1)
            elif kind == "k":
                found = str(self.pick(range(5)))
            elif kind in self.given:
                found = self.pick(self.given[kind][-6:])
            else:
                if kind not in names:
                    self.names += 1
                    names[kind] = f"n{self.names}"
                found = names[kind]
            return found if match[1] is None else indented(found, match[1])

        return _HOLE.sub(filled, text)

    def chosen(self, kind, depth):
        leaves, every = self.texts[kind]
        if depth > 0 and self.left > 0:
            self.left -= 1
            return self.pick(every)
        return self.pick(leaves)

    def statement(self, depth):
        return self.fill(self.chosen("s", depth), depth)

    def local(self, depth):
        if depth <= 1 or not self.pick((False, True)):
            return "pass"
        return self.definition(depth, local=True)

    def definition(self, depth, local=False):
        """A definition; what it gives is there for all that comes after it."""
        before = {kind: len(given) for kind, given in self.given.items()}
        lines = self.pick(self.texts["d"][1]).split("\n")
        gives = [line for line in lines if re.match(r"~?[a-z]: ", line)]
        names: dict[str, str] = {}
        text = self.fill("\n".join(line for line in lines if line not in gives), depth, names)
        for kind, count in before.items():
            del self.given[kind][count:]  # what was local to it
        for line in filter(self.gives.match, gives):
            kind, _, given = line.lstrip("~").partition(": ")
            if not (local and kind == "r"):
                self.given[kind].append(self.fill(given, 1, names))
        return re.sub(r" *@target.*\n", "", text) if local else text

    def program(self):
        parts = [PRELUDE]
        for _ in range(self.integer(1, 4)):
            self.left += 15
            parts.append(self.definition(3))
        lines = ["def main(x):", "    a = b = x", "    {d}"]
        for _ in range(self.integer(1, 4)):
            self.left += 5
            lines.append(self.pick(_CALLS))
        parts.append(self.fill("\n".join(lines), 4))
        return "\n".join(parts).replace("{{", "{").replace("}}", "}") + "\n"


_CALLS = (
    "    log({f}({e}))",
    "    {s}",
    "    try:\n        log({f}({e}))\n    except Exception as error:\n"
    "        log(type(error).__name__, str(error))",
    "    for x in range(3):\n        log({f}(x))",
    "    log(list({g}({e})))",
    "    log(drive({w}({e})))",
)


def indented(text, margin):
    return "\n".join(margin + line for line in text.split("\n"))


@st.composite
def programs(draw, without=""):
    """The text of a module with a function ``main(x)``.

    without: "!" leaves out what C code calls, and calls with arguments that do not fit; "~!"
    leaves out too what the interpreter calls without a call instruction.
    """
    return _Author(lambda *bounds: draw(st.integers(*bounds)), without).program()
