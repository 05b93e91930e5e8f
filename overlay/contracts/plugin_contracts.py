"""A tester of plugins: the contracts that a plugin declares, and those of every plugin, checked
on programs.
"""

from __future__ import annotations

import contextlib
import copy
import io
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from overlay.contexts.context import Context
from overlay.contracts.sample_programs import SAMPLES
from overlay.contracts.watching_plugins import CountsCalls, WatchesCode, same_plugin
from overlay.core.errors import NotCompilable, OverlayError, near_names
from overlay.core.location import location_of
from overlay.core.metadata import metadata_key
from overlay.core.target import describe
from overlay.plugins.plugin import Plugin, only_compiles, stages_of, surrounds

__all__ = ["BrokenContract", "CheckedPlugin", "check_plugin"]

POINTER = re.compile(r"inttoptr \(i64 \d+ to")
Given = tuple[Any, ...]


class BrokenContract(OverlayError, AssertionError):
    """A plugin breaks a contract: one that it declares, or one that holds for every plugin.

    The contracts are:

    - ``"declarations"``: the attributes of the class have the right form, and each hook has a known
      name;
    - ``"values"``, ``"effects"``, ``"calls"`` and ``"types"``, where ``preserves`` has them;
    - ``"runs"``: programs that run without it run with it;
    - ``"deterministic"``: a program that is compiled again does the same;
    - ``"enter"``: it gives the same answer to the same question;
    - ``"cache_token"``: constant, equal for plugins that are made in the same way, different for
      those that do something else, and no pointer of this process is in the code stored under it;
    - ``"shares_native_cache"``: it changes no compiled code;
    - ``"outside"``: code outside of the context is unchanged;
    - ``"leaves"``, ``"composition"``, ``"commutes"`` and ``"idempotent"``, on request.

    Attributes
    ----------
    contract : str
        The contract's name.

    Examples
    --------
    >>> from overlay import Plugin
    >>> from overlay.contracts import BrokenContract, check_plugin
    >>> class Typo(Plugin):
    ...     preserves = "values"
    >>> try:
    ...     check_plugin(Typo, samples=False)
    ... except BrokenContract as error:
    ...     print(error.contract)
    declarations
    """

    def __init__(self, contract: str, asked: str, **parts: Any) -> None:
        super().__init__(asked, **parts)
        self.contract = contract


@dataclass(frozen=True)
class CheckedPlugin:
    """The extent of a check that found nothing.

    Attributes
    ----------
    interpreted, compiled : int
        The numbers of programs that were interpreted and compiled with the plugin.
    contracts : tuple of str
        The contracts that were checked.

    Examples
    --------
    >>> from overlay import Plugin
    >>> from overlay.contracts import check_plugin
    >>> "declarations" in check_plugin(Plugin, (abs, -1), samples=False).contracts
    True
    """

    interpreted: int
    compiled: int
    contracts: tuple[str, ...]


def check_plugin(
    plugin: Plugin | Callable[[], Plugin],
    *programs: Given,
    leaves: Iterable[Given] = (),
    beside: Iterable[Plugin] = (),
    commutes_with: Iterable[Plugin] = (),
    idempotent: bool = False,
    samples: bool = True,
) -> CheckedPlugin:
    """Check the contracts of a plugin on programs, in each engine that it takes part in.

    The contracts are listed at ``BrokenContract``.

    Parameters
    ----------
    plugin
        The plugin, or a function that makes one: then two that it makes are compared, too.
    programs
        Functions, each in a tuple followed by its arguments: give those that the plugin changes.
    leaves
        Programs that the plugin has to leave unchanged.
    beside
        Plugins that it is composed with, in each order that both allow. A plugin of the same
        class with an equal ``cache_token`` has to do the same.
    commutes_with
        Plugins with which both orders do the same.
    idempotent
        Whether a second plugin of the same kind, after it, must have nothing left to change.
    samples
        Whether the project's own programs are tried, too.

    Returns
    -------
    CheckedPlugin
        The numbers of programs, and the contracts that were checked.

    Raises
    ------
    BrokenContract
        A contract is broken. The error names the contract, the program, both values, and a change
        that helps.

    Examples
    --------
    >>> import math
    >>> from overlay import Plugin
    >>> from overlay.contracts import check_plugin
    >>> class Cosines(Plugin):
    ...     preserves = frozenset({"effects", "types"})
    ...     def before_inference(self, ir):
    ...         for call in ir.calls(math.sin):
    ...             ir.replace(call, math.cos, *call.args)
    >>> def wave(x):
    ...     return math.sin(x)
    >>> check_plugin(Cosines, (wave, 0.5), samples=False).compiled
    1
    """
    make = (lambda: plugin) if isinstance(plugin, Plugin) else plugin
    check = _Check(make(), make, own=not isinstance(plugin, Plugin))
    given = [*programs, *(SAMPLES if samples else ())]
    check.alone(given, [*leaves])
    check.composition(given, [*beside], [*commutes_with])
    if idempotent:
        check.idempotent(given)
    return CheckedPlugin(check.interpreted, check.compiled, tuple(check.tried))


# ---- runs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """Record of a run of a program. value: its result or its exception, bit for bit. effects: its
    output, and its arguments afterwards.
    """

    value: Any
    effects: Any


def _run(program: Given, call: Callable[..., Any]) -> _Run:
    """Run a program with copies of its arguments. Raises OverlayError alone."""
    args = copy.deepcopy(program[1:])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            value = _bits(call(*args))
        except OverlayError:
            raise
        except Exception as error:
            value = "raised", type(error).__name__, str(error)
    return _Run(value, (printed.getvalue(), _bits(args)))


def _bits(value: Any) -> Any:
    """A value in a form that is equal only for the same bits."""
    if isinstance(value, (float, np.floating)):
        return type(value).__name__, repr(value), struct.pack("<d", value)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist(), value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value).__name__, tuple(map(_bits, value))
    return type(value).__name__, value if isinstance(value, (int, str, bool)) else repr(value)


def _shown(value: Any) -> str:
    """A value of ``_bits`` for people."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        if value[0] in ("tuple", "list"):
            return f"({', '.join(map(_shown, value[1]))})"
        if value[0] == "raised":
            return f"{value[1]}({value[2]!r})"
        return value[1] if "float" in value[0] else repr(value[1])
    return repr(value)


def _shown_effects(effects: Any) -> str:
    printed, args = effects
    return f"of printing {printed!r} and leaving the arguments {_shown(args)}"


def _given(run: _Run | None) -> str:
    """The outcome of a run, as text: its value and its output."""
    if run is None:
        return "nothing, as it is refused,"
    printed = run.effects[0]
    return _shown(run.value) + (f" with {printed!r} printed" if printed else "")


# ---- the check ------------------------------------------------------------------------------

REMEDIES = {
    "values": "remove 'values' from preserves, or preserve results bit for bit",
    "effects": "remove 'effects' from preserves, or preserve all output and writes",
    "calls": "remove 'calls' from preserves, or leave each call of the source a call",
    "types": "remove 'types' from preserves, or preserve the inferred types",
    "leaves": "return None from enter() for it, or test the target first in the hook",
    "deterministic": "decide by the program alone, not by time, chance, or earlier calls",
    "outside": "change the IR, the module or the call that a hook is given, and nothing else",
}


@dataclass
class _Check:
    """The check of one plugin. own: whether ``make`` makes another one each time."""

    plugin: Plugin
    make: Callable[[], Plugin]
    own: bool
    interpreted: int = 0
    compiled: int = 0
    tried: dict[str, None] = field(default_factory=dict[str, None])

    def alone(self, programs: Sequence[Given], leaves: Sequence[Given]) -> None:
        """Check the declarations of the plugin, and its effect on programs by itself."""
        self.declarations()
        for program in programs:
            self.program(program)
        for program in leaves:
            self.program(program, untouched=True)
        if not self.interpreted and not self.compiled:
            self.broken("runs", "no program could be tried", "give programs that run without it")
        self.cache_token(programs)
        self.shares_native_cache(programs)

    def broken(
        self, contract: str, what: str, help: str, program: Given | None = None, **notes: str
    ) -> NoReturn:
        shown: list[tuple[str, str]] = []
        if program is not None:
            f, *args = program
            shown.append(("program", f"{describe(f)}({', '.join(map(repr, args))})"))
            shown.append(("defined at", location_of(f) or "an unknown place"))
        raise BrokenContract(
            contract,
            f"{self.plugin!r} breaks the contract {contract!r}: {what}",
            where=_class_at(self.plugin),
            notes=[*shown, *((name.replace("_", " "), text) for name, text in notes.items())],
            help=help,
        )

    def keeps(self, contract: str) -> bool:
        """Whether the plugin declares that it preserves a property."""
        kept = contract in self.plugin.preserves
        if kept:
            self.tried[contract] = None
        return kept

    # ---- declarations ----

    def declarations(self) -> None:
        """Check the forms of the attributes that the class declares."""
        self.tried["declarations"] = None
        plugin = self.plugin
        for name in ("requires", "preserves", "refuses"):
            if isinstance(getattr(plugin, name), str):
                text = getattr(plugin, name)
                self.broken(
                    "declarations", f"{name} is the text {text!r}, whose members are its letters",
                    f"write {name} = ({text!r},)",
                )  # fmt: skip
        for name in plugin.requires:
            if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                self.broken(
                    "declarations", f"it requires {name!r}, which is no property", "give its name"
                )
        for marker in plugin.markers:
            if not callable(marker):
                self.broken(
                    "declarations", f"the marker {marker!r} is no function", "name functions"
                )
        known = [name for name in vars(Plugin) if not name.startswith("_")]
        for name, value in _own_attributes(type(plugin)):
            near = near_names(name, known, most=1, cutoff=0.85)
            if callable(value) and near and name not in known:
                self.broken(
                    "declarations", f"{name} is no hook, and is never called",
                    f"rename it to {near[0]}, or to a name that is less similar",
                )  # fmt: skip
        try:
            hash(plugin.cache_token)
        except TypeError:
            self.broken(
                "declarations", f"its cache_token {plugin.cache_token!r} cannot be hashed",
                "use a tuple of numbers and strings",
            )  # fmt: skip

    # ---- one program ----

    def program(self, program: Given, *, untouched: bool = False) -> None:
        """Try one program. untouched: whether nothing of it may change."""
        if not only_compiles(self.plugin):
            self._interpreted(program, untouched=untouched)
        if not surrounds(self.plugin):
            self._compiled(program, untouched=untouched)

    def _interpreted(self, program: Given, *, untouched: bool) -> None:
        f = program[0]
        native = _run(program, f)
        self._asked_twice(program)
        plain_calls, calls = CountsCalls(), CountsCalls()
        plain = _run(program, lambda *args: Context(plugins=(plain_calls,))(f, *args))
        found = self._tried(program, lambda *a: Context(plugins=(calls, self.plugin))(f, *a))
        again = self._tried(program, lambda *a: Context(plugins=(self.make(),))(f, *a))
        self.interpreted += 1
        self._compare(program, "interpreted", plain, found, again, untouched=untouched)
        self._compare_calls(
            program, "interpreted", plain_calls.counts, calls.counts, untouched=untouched
        )
        self._outside(program, "interpreted", native, lambda: _run(program, f))

    def _compiled(self, program: Given, *, untouched: bool) -> None:
        f, base = program[0], WatchesCode()
        try:
            plain = _run(program, Context(plugins=(base,)).jit(f))
        except NotCompilable:
            return
        self._asked_twice(program)
        native = Context().jit(f)
        before_it = _run(program, native)
        before, after = WatchesCode(self.plugin), WatchesCode()
        found = self._tried(program, Context(plugins=(before, self.plugin, after)).jit(f))
        again = self._tried(program, Context(plugins=(self.make(), WatchesCode())).jit(f))
        self.compiled += 1
        for callee, _, first, second in before.wavering:
            self._wavers(program, callee, first, second)
        self._compare(program, "compiled", plain, found, again, untouched=untouched)
        for place, calls in before.calls.items():
            left = after.calls.get(place, Counter())
            self._compare_calls(
                program, f"{place[0]} of {place[1]}", calls, left, untouched=untouched
            )
        if after.inlined and (untouched or self.keeps("calls")):
            call = after.inlined[0]
            self.broken(
                "leaves" if untouched else "calls", f"the call at {call.where} is inlined",
                REMEDIES["leaves" if untouched else "calls"], program,
            )  # fmt: skip
        self._compare_types(program, base, after, untouched=untouched)
        self._outside(program, "compiled", before_it, lambda: _run(program, Context().jit(f)))
        self._outside(program, "compiled before", before_it, lambda: _run(program, native))

    def _tried(self, program: Given, call: Callable[..., Any]) -> _Run:
        """A run with the plugin."""
        self.tried["runs"] = None
        try:
            return _run(program, call)
        except OverlayError as error:
            self.broken(
                "runs", f"the program fails with it: {error.asked}",
                error.help or "correct the hook, or return None from enter() here", program,
            )  # fmt: skip

    def _compare(
        self, program: Given, engine: str, plain: _Run, found: _Run, again: _Run, *, untouched: bool
    ) -> None:
        for contract, name, shown in (
            ("values", "value", _shown),
            ("effects", "effects", _shown_effects),
        ):
            wanted, made, remade = (getattr(run, name) for run in (plain, found, again))
            kept = self.keeps(contract)
            if wanted != made and (untouched or kept):
                contract = "leaves" if untouched else contract
                self.broken(
                    contract, f"{engine}, the program has the {name} {shown(made)}, and "
                    f"{shown(wanted)} without it", REMEDIES[contract], program,
                )  # fmt: skip
            self.tried["deterministic"] = None
            if made != remade:
                self.broken(
                    "deterministic", f"{engine} again, the program has the {name} {shown(remade)}, "
                    f"and {shown(made)} before", REMEDIES["deterministic"], program,
                )  # fmt: skip
        if untouched:
            self.tried["leaves"] = None

    def _compare_calls(
        self,
        program: Given,
        place: str,
        wanted: Counter[str],
        made: Counter[str],
        *,
        untouched: bool,
    ) -> None:
        changed = made != wanted if untouched else bool(wanted - made)
        if changed and (untouched or self.keeps("calls")):
            contract = "leaves" if untouched else "calls"
            gone = ", ".join((wanted - made) or (made - wanted))
            what = f"{place}: calls of {gone} are {'removed' if wanted - made else 'added'}"
            self.broken(contract, what, REMEDIES[contract], program)

    def _compare_types(
        self, program: Given, base: WatchesCode, after: WatchesCode, *, untouched: bool
    ) -> None:
        if not (untouched or self.keeps("types")):
            return
        for name, wanted in base.types.items():
            made = after.types.get(name, {})
            for variable, kind in wanted.items():
                other = made.get(variable, kind)
                if other != kind:
                    contract = "leaves" if untouched else "types"
                    self.broken(
                        contract, f"{variable} in {name} is {other}, and {kind} without it",
                        REMEDIES[contract], program,
                    )  # fmt: skip

    def _asked_twice(self, program: Given) -> None:
        self.tried["enter"] = None
        first, second = (self.plugin.enter(program[0], None) for _ in range(2))
        if not same_plugin(first, second):
            self._wavers(program, program[0], first, second)

    def _wavers(self, program: Given, callee: Any, first: Any, second: Any) -> NoReturn:
        self.broken(
            "enter", f"for {describe(callee)} enter returns {first!r}, and then {second!r}",
            "return the same plugin for the same callee and types, or one with a cache_token",
            program,
        )  # fmt: skip

    def _outside(self, program: Given, engine: str, wanted: _Run, run: Callable[[], _Run]) -> None:
        self.tried["outside"] = None
        made = run()
        if made != wanted:
            self.broken(
                "outside", f"{engine} without the plugin, the program now gives "
                f"{_shown(made.value)}, and {_shown(wanted.value)} before",
                REMEDIES["outside"], program,
            )  # fmt: skip

    # ---- caches ----

    def cache_token(self, programs: Sequence[Given]) -> None:
        """The key of compiled code."""
        token = self.plugin.cache_token
        if token is None:
            return
        self.tried["cache_token"] = None
        if self.own:
            other = self.make()
            if metadata_key(other.cache_token) != metadata_key(token):
                self.broken(
                    "cache_token", f"it is {token!r}, and {other.cache_token!r} for its twin",
                    "build it, by value, from all that determines the plugin's effect",
                )  # fmt: skip
        if metadata_key(self.make().cache_token) != metadata_key(token):
            self.broken(
                "cache_token", f"it was {token!r}, and became {self.plugin.cache_token!r}",
                "set it once, in __init__",
            )  # fmt: skip
        if stages_of(self.plugin) and not self.plugin.shares_native_cache:
            for program in programs:
                self._kept(program)

    def _kept(self, program: Given) -> None:
        """Code that is kept on disk: without pointers, and found again."""
        f = program[0]
        texts = list[str]()
        for plugins in ((), (self.plugin,)):
            hot = Context(plugins=plugins).jit(f)
            try:
                _run(program, hot)
            except OverlayError:
                return
            texts.append("\n".join(hot.inspect_llvm().values()))
        plain, made = (len(POINTER.findall(text)) for text in texts)
        if made > plain:
            self.broken(
                "cache_token", f"the code stored under it has {made - plain} pointers",
                "call functions by symbols in the code, or leave out the cache_token", program,
            )  # fmt: skip

    def shares_native_cache(self, programs: Sequence[Given]) -> None:
        """Whether compiled code is that without the plugin."""
        if not self.plugin.shares_native_cache or surrounds(self.plugin):
            return
        self.tried["shares_native_cache"] = None
        twin = _twin(self.plugin, shares_native_cache=False)
        for program in programs:
            before, after = WatchesCode(), WatchesCode()
            try:
                _run(program, Context(plugins=(before, twin, after)).jit(program[0]))
            except NotCompilable:
                continue
            for name in ("calls", "types", "modules"):
                if getattr(before, name) != getattr(after, name):
                    self.broken(
                        "shares_native_cache", f"the plugin changes {name} of compiled code",
                        "leave it out: code without the plugin is not valid with it",
                        program,
                    )  # fmt: skip

    # ---- with other plugins ----

    def composition(
        self, programs: Sequence[Given], beside: Sequence[Plugin], commuting: Sequence[Plugin]
    ) -> None:
        """The plugin beside others, in each order that is allowed."""
        for other in beside:
            self.tried["composition"] = None
            if same_plugin(self.plugin, other):
                self._alike(programs, other)
        for other in (*beside, *commuting):
            self.tried["composition"] = None
            for program in programs:
                orders = [(self.plugin, other), (other, self.plugin)]
                runs = [self._composed(program, order) for order in orders]
                if not any(other is each for each in commuting):
                    continue
                self.tried["commutes"] = None
                if None in runs or runs[0] != runs[1]:
                    shown = [*map(_given, runs)]
                    self.broken(
                        "commutes", f"before {other!r} the program gives {shown[0]}, after it "
                        f"{shown[1]}", "declare the order in requires and preserves", program,
                    )  # fmt: skip

    def _composed(self, program: Given, plugins: tuple[Plugin, ...]) -> _Run | None:
        """A run with both plugins, None where they refuse this order."""
        try:
            context = Context(plugins=plugins)
        except OverlayError:
            return None
        if any(map(surrounds, plugins)):
            if any(map(only_compiles, plugins)):
                return None
            return self._tried(program, lambda *args: context(program[0], *args))
        return self._tried(program, context.jit(program[0]))

    def _alike(self, programs: Sequence[Given], other: Plugin) -> None:
        """Another plugin with an equal token does the same."""
        pair = [_twin(each, cache_token=None) for each in (self.plugin, other)]
        for program in programs:
            one, two = (self._composed(program, (each,)) for each in pair)
            if one != two:
                self.broken(
                    "cache_token", f"{other!r} has an equal one, and gives {_given(two)} where "
                    f"this plugin gives {_given(one)}",
                    "build it from all that determines the plugin's effect", program,
                )  # fmt: skip

    def idempotent(self, programs: Sequence[Given]) -> None:
        """A second plugin like it, after it, changes nothing."""
        self.tried["idempotent"] = None
        for program in programs:
            twin = _twin(self.plugin, cache_token=None)
            one = self._composed(program, (self.plugin,))
            two = self._composed(program, (self.plugin, twin))
            if one != two:
                self.broken(
                    "idempotent", f"twice, the program gives {_given(two)}, and {_given(one)} once",
                    "match the original code, and not the plugin's own result", program,
                )  # fmt: skip


def _twin(plugin: Plugin, **attributes: Any) -> Plugin:
    """A plugin that does the same, with some attributes changed."""
    twin = copy.copy(plugin)
    for name, value in attributes.items():
        setattr(twin, name, value)
    return twin


def _class_at(plugin: Plugin) -> str | None:
    """The place of a method of a plugin's class."""
    for _, value in _own_attributes(type(plugin)):
        place = location_of(value) if callable(value) else None
        if place is not None:
            return place
    return None


def _own_attributes(kind: type) -> Iterator[tuple[str, Any]]:
    """The public attributes of a plugin's class and the classes above, below ``Plugin``."""
    for owner in kind.__mro__:
        if owner is Plugin or not issubclass(owner, Plugin):
            continue
        yield from ((name, value) for name, value in vars(owner).items() if name[0] != "_")
