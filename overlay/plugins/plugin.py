"""Plugins: hooks into the compilation of a context's code, and into its interpreted calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import caller, location_of, name_of
from overlay.core.markup import code, facts, sheet
from overlay.core.metadata import metadata_key
from overlay.core.own_builtins import __builtins__
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.analysis.runs import Run
    from overlay.ir import IR, Call
    from overlay.plugins.markers import MarkedModule

__all__ = [
    "ALL",
    "HOOKS",
    "LLVM_STAGES",
    "STAGES",
    "Plugin",
    "answers",
    "ask_analysed",
    "ask_marked",
    "asks_at_calls",
    "check_composition",
    "composed",
    "entered_plugins",
    "follows_source",
    "hear_analyses",
    "hooks_on_code",
    "identity",
    "interpreted",
    "may_edit",
    "only_compiles",
    "put_around",
    "refuse_around",
    "refuse_edits",
    "refuse_stages",
    "run_stage",
    "stages_of",
    "stored_key",
    "surrounds",
]

# The hooks that take part in compiling a function, in order of execution.
STAGES: Final = (
    "before_inference",
    "infer",
    "inline",
    "after_inference",
    "after_codegen",
    "marked",
    "before_optimisation",
    "after_optimisation",
)


# The stages of these that edit machine code alone, after the program's calls have been decided.
LLVM_STAGES: Final = ("after_codegen", "before_optimisation", "after_optimisation")

# The hooks that run at calls in interpreted code, beside ``around``.
AT_CALLS: Final = ("enter", "interpreter", "analysed")


class All:
    """Set of all properties: the default of ``Plugin.preserves``."""

    def __contains__(self, name: object) -> bool:
        return True

    def __repr__(self) -> str:
        return "ALL"


ALL: Final = All()


class Plugin:
    """Hooks into the compilation and the calls of the code that a context runs.

    Each hook does nothing until a subclass defines it. A context has its plugins in an order, and
    each stage passes its subject from one to the next. ``overlay.ir`` has the functions to
    inspect and edit IR.

    Attributes
    ----------
    requires : iterable of str
        Properties that the program must have when this plugin receives it. A property is any word
        that authors of plugins agree on; a program has all of them before the first plugin. These
        are documented: ``"calls"`` (each call of the source is still a call), ``"values"``
        (results are the program's, bit for bit), ``"effects"`` (in their order), ``"types"``.
    preserves : ALL or set of str
        The properties that the program still has after this plugin, if it had them.
    refuses : iterable
        Classes of plugins, or cache tokens, that it cannot be composed with in any order.
    cache_token : hashable or None
        Part of the key of compiled code, equal for plugins that do the same; None: this object,
        in this process only.
    markers : iterable of callable
        Functions of the program whose calls are passed to this plugin's ``marked``.
    shares_native_cache : bool
        Whether compiled code does not depend on this plugin: code that was compiled without it is
        valid with it, and the reverse.

    Examples
    --------
    >>> from overlay import Context, Plugin
    >>> class Counting(Plugin):
    ...     calls = 0
    ...     def around(self, callee, run):
    ...         def counted(*args, **kwargs):
    ...             self.calls += 1
    ...             return run(*args, **kwargs)
    ...         return counted
    >>> plugin = Counting()
    >>> def program():
    ...     return abs(-1) + abs(2)
    >>> Context(plugins=(plugin,))(program), plugin.calls
    (3, 3)
    """

    requires: Iterable[str] = ()
    preserves: Any = ALL
    refuses: Iterable[Any] = ()
    cache_token: Hashable = None
    shares_native_cache: bool = False
    markers: Iterable[Callable[..., Any]] = ()

    def enter(self, callee: Any, types: tuple[Any, ...] | None) -> Plugin | None:
        """Hook: choose the plugin that is active in a callee and below it.

        Parameters
        ----------
        callee : callable
            The function that is entered.
        types : tuple or None
            The types of the arguments, or None where they are unknown.

        Returns
        -------
        Plugin or None
            This plugin, another in its place, or None for no plugin.
        """
        return self

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any] | None:
        """Hook: wrap the calls of a callee in interpreted code.

        It runs when a call site meets a callee that it has not cached yet.

        Parameters
        ----------
        callee : callable
            The function that the program calls.
        run : callable
            Calls ``callee`` in the context.

        Returns
        -------
        callable or None
            The callable that runs in place of ``run``; None for ``run`` itself.
        """
        return None

    def before_inference(self, ir: IR) -> Any:
        """Hook: edit the IR of a function before type inference.

        Parameters
        ----------
        ir : IR
            The function.

        Returns
        -------
        IR or None
            The IR, edited or another; None for ``ir`` as it is now.
        """
        return ir

    def infer(self, call: Call) -> Any:
        """Hook: decide the type of the result of a call, to which the result is converted.

        Parameters
        ----------
        call : Call
            The call, with the types of its arguments.

        Returns
        -------
        type or None
            An annotation or a numba type; None for ``call.result_type``.
        """
        return None

    def inline(self, call: Call) -> bool | None:
        """Hook: decide whether a call is replaced by the body of its callee.

        Parameters
        ----------
        call : Call
            The call, with the types of its arguments.

        Returns
        -------
        bool or None
            True to inline the call; False to leave it a call, also in LLVM; None for
            ``call.inlined``.
        """
        return None

    def after_inference(self, ir: IR) -> Any:
        """Hook: edit the IR of a function after type inference.

        Parameters
        ----------
        ir : IR
            The function, with types.

        Returns
        -------
        IR or None
            The IR, edited or another; None for ``ir`` as it is now.
        """
        return ir

    def after_codegen(self, module: Any) -> Any:
        """Hook: edit the LLVM module of one function.

        Parameters
        ----------
        module : llvmlite.ir.Module
            The module, to be edited in place.
        """

    def marked(self, module: MarkedModule) -> bool | None:
        """Hook: rewrite the calls of ``markers`` in the LLVM module of a function.

        Parameters
        ----------
        module : MarkedModule
            The module, to be edited in place so that none of ``module.calls`` is left.

        Returns
        -------
        bool or None
            Whether the module was changed.
        """

    def before_optimisation(self, module: Any) -> Any:
        """Hook: edit or inspect an LLVM module before optimisation.

        Parameters
        ----------
        module : llvmlite.binding.ModuleRef
            The module of a function, with all that is linked to it.
        """

    def after_optimisation(self, module: Any) -> Any:
        """Hook: edit or inspect an LLVM module after optimisation.

        Parameters
        ----------
        module : llvmlite.binding.ModuleRef
            The module of a function, with all that is linked to it.
        """

    def interpreter(self, current: Any) -> Any:
        """Hook: choose the abstract interpretation in force below a call.

        Parameters
        ----------
        current : object
            The interpretation in force so far, such as a ``Domain`` of ``overlay.analysis``; or
            None.

        Returns
        -------
        object
            The interpretation; ``current`` to leave it unchanged.
        """
        return current

    def analysed(self, run: Run) -> None:
        """Hook: receive the analysis of an entered function in the interpretation in force.

        Parameters
        ----------
        run : Run
            The result of the analysis, the calls in the function, and the analyses of its
            callees.
        """

    def __repr__(self) -> str:
        token = "" if self.cache_token is None else f" {self.cache_token!r}"
        done = self._run_facts()
        return f"<plugin {type(self).__qualname__}{token}{done and f': {done}'}>"

    def _run_facts(self) -> str:
        """The number of things that it has recorded so far, in words; "" if it records nothing."""
        return ""

    def _html_parts(self) -> tuple[object, ...]:
        """The parts of its HTML below the title."""
        hooks = ", ".join(name for name in (*STAGES, *AT_CALLS, "around") if _has(self, name))
        return (facts(("hooks", code(hooks) if hooks else None)),)

    def _repr_html_(self) -> str:
        return sheet("plugin", type(self).__qualname__, self._run_facts(), *self._html_parts())


HOOKS: Final = tuple(name for name in vars(Plugin) if not name.startswith("_"))
"""The names of all hooks and declarations, of which those who use a finished plugin need none."""


def stages_of(plugin: Plugin) -> tuple[str, ...]:
    """The compilation hooks that a plugin defines."""
    return tuple(name for name in STAGES if _has(plugin, name))


def may_edit(plugin: Plugin) -> bool:
    """Whether a plugin decides what the calls of a compiled program are, or may bring one that
    does: a program read from the source text alone may then be a different one.
    """
    return any(hook not in LLVM_STAGES for hook in hooks_on_code(plugin))


def hooks_on_code(plugin: Plugin) -> tuple[str, ...]:
    """The hooks of a plugin by which compiled code may do something else than its source text:
    those that take part in compiling, and ``enter``, which may bring a plugin that has such."""
    return (*stages_of(plugin), *(["enter"] if _has(plugin, "enter") else []))


def follows_source(plugin: Plugin) -> bool:
    """Whether a program does what its source text says with a plugin, interpreted and compiled:
    whoever reads the text in the place of a run gets the same result."""
    return not (hooks_on_code(plugin) or surrounds(plugin))


def identity(plugin: Plugin) -> Hashable:
    """Identity of a plugin in cache keys: plugins with equal ones are entered only once."""
    token = plugin.cache_token
    if token is None:
        return id(plugin)
    try:
        hash(token)
    except TypeError as error:
        raise OverlayError(
            f"the cache_token of {plugin!r} cannot be hashed",
            where=caller(),
            help="use a tuple of numbers and strings",
        ) from error
    return type(plugin), metadata_key(token)


def stored_key(plugins: Iterable[Plugin]) -> tuple[Hashable, ...]:
    """The key of code on disk: the plugins that it depends on. Raises NotCompilable for a plugin
    without a ``cache_token``, which no other process knows."""
    needed = [plugin for plugin in plugins if not plugin.shares_native_cache]
    for plugin in needed:
        if plugin.cache_token is None:
            raise NotCompilable(
                f"cannot keep code on disk that depends on {plugin!r}",
                where=caller(),
                help="give the plugin a cache_token, equal for plugins that do the same, or leave "
                "cache=True out",
            )
    kinds = [(type(plugin).__module__, type(plugin).__qualname__) for plugin in needed]
    return tuple((*k, metadata_key(p.cache_token)) for k, p in zip(kinds, needed, strict=True))


def composed(*groups: Iterable[Plugin]) -> tuple[Plugin, ...]:
    """Join the plugins of several contexts, outermost first: each once, at its first position."""
    found = dict[Hashable, Plugin]()
    for group in groups:
        if isinstance(group, Plugin):
            raise OverlayError(
                f"a context's plugins are given in a tuple, not as {group!r}",
                where=caller(),
                help="put it in a tuple: plugins=(plugin,)",
            )
        if not isinstance(group, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _no_plugin(group)
        for plugin in group:
            if not isinstance(plugin, Plugin):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise _no_plugin(plugin)
            found.setdefault(identity(plugin), plugin)
    plugins = tuple(found.values())
    check_composition(plugins)
    return plugins


def _no_plugin(given: object) -> OverlayError:
    return OverlayError(
        f"a context's plugins are objects of classes below Plugin, not {given!r}",
        where=caller(),
        help="give an object: plugins=(MyPlugin(),)",
    )


def check_composition(plugins: tuple[Plugin, ...]) -> None:
    """Raise OverlayError where one of these plugins, in this order, cannot work because of another;
    the error names both."""
    for place, plugin in enumerate(plugins):
        for other in plugins[:place]:
            for name in plugin.requires:
                if name not in other.preserves:
                    raise _broken(
                        f"{plugin!r} requires {name!r}, which {other!r}, before it, "
                        "does not preserve",
                        _remedy(plugin, other, name),
                    )
        for other in plugins:
            if other is not plugin and any(_is_meant(refused, other) for refused in plugin.refuses):
                raise _broken(f"{plugin!r} refuses {other!r}", "leave one of the two out")


def _is_meant(refused: Any, other: Plugin) -> bool:
    if isinstance(refused, type):
        return isinstance(other, refused)
    return other.cache_token is not None and other.cache_token == refused


def _remedy(plugin: Plugin, other: Plugin, name: str) -> str:
    broken_by_it = [n for n in other.requires if n not in plugin.preserves]
    if broken_by_it:
        return f"leave one of the two out: {plugin!r} does not preserve {broken_by_it[0]!r}"
    return f"put {plugin!r} before {other!r}, or leave one of the two out"


def _broken(what: str, remedy: str) -> OverlayError:
    return OverlayError(what, where=caller(), help=remedy)


def entered_plugins(
    plugins: tuple[Plugin, ...], callee: Any, types: tuple[Any, ...] | None
) -> tuple[Plugin, ...]:
    """The plugins that are active in a callee: the result of each plugin's ``enter``."""
    found = list[Plugin]()
    for plugin in plugins:
        entered = _ask(plugin, "enter", callee, lambda p=plugin: p.enter(callee, types))
        if entered is None:
            continue
        if not isinstance(entered, Plugin):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise OverlayError(
                f"enter of {plugin!r} returned {entered!r} for {name_of(callee)}",
                help="return a plugin from enter(), or None to bail out",
            )
        found.append(entered)
    if all(map(lambda a, b: a is b, found, plugins)) and len(found) == len(plugins):
        return plugins
    try:
        return composed(found)
    except OverlayError as error:
        error.where = location_of(callee)
        raise


def interpreted(plugins: Iterable[Plugin], current: Any, function: Any) -> Any:
    """The abstract interpretation in force in a function that is entered under ``current``."""
    for plugin in plugins:
        if _has(plugin, "interpreter"):
            current = _ask(
                plugin, "interpreter", function, lambda p=plugin, c=current: p.interpreter(c)
            )
    return current


def asks_at_calls(plugin: Plugin) -> bool:
    """Whether a plugin has a hook, other than ``around``, for calls in interpreted code."""
    return any(_has(plugin, hook) for hook in AT_CALLS)


def surrounds(plugin: Plugin) -> bool:
    """Whether a plugin has ``around``."""
    return _has(plugin, "around")


def put_around(
    plugins: Iterable[Plugin],
    callee: Any,
    run: Callable[..., Any],
    prepared: Callable[[Any], Any],
) -> Callable[..., Any]:
    """The callable that runs in place of ``run``, which calls ``callee``: each plugin wraps the
    result of those before it. prepared: converts the callable of each plugin."""
    for plugin in plugins:
        if not surrounds(plugin):
            continue
        found = _ask(plugin, "around", callee, lambda p=plugin, now=run: p.around(callee, now))
        if found is not None and not callable(found):
            raise OverlayError(
                f"around of {plugin!r} returned {found!r} for {name_of(callee)}, which is not "
                "callable",
                where=location_of(callee),
                help="return a function that calls run(*args, **kwargs), or None",
            )
        run = run if found is None or found is run else prepared(found)
    return run


def refuse_around(plugins: Iterable[Plugin], function: Any) -> None:
    """Raise NotCompilable where a plugin has ``around``, which compiled code would ignore."""
    for plugin in plugins:
        if surrounds(plugin):
            raise NotCompilable(
                f"cannot compile {name_of(function)} with {plugin!r}, which has around: calls in "
                "compiled code cannot be wrapped",
                where=caller(),
                help="run it interpreted: ctx(f, ...)",
            )


def only_compiles(plugin: Plugin) -> bool:
    """Whether a plugin takes part in compiling, and has no hook for interpreted code."""
    return bool(stages_of(plugin)) and not (surrounds(plugin) or asks_at_calls(plugin))


def refuse_stages(plugins: Iterable[Plugin], function: Any) -> None:
    """Raise OverlayError where a plugin only takes part in compiling, as interpreted code is not
    compiled. function: or a description of the interpreted code, as text."""
    for plugin in plugins:
        if only_compiles(plugin):
            stage = stages_of(plugin)[0]
            compiled = "f" if isinstance(function, str) else name_of(function)
            raise OverlayError(
                f"cannot interpret {name_of(function)} with {plugin!r}: it has {stage}, which "
                "takes part in compiling, and no hook for interpreted code",
                where=caller() or location_of(function),
                help=f"compile it: ctx.jit({compiled})(...), or return None from "
                f"{type(plugin).__qualname__}.enter for it",
            )


def refuse_edits(plugins: tuple[Plugin, ...], function: Any) -> None:
    """Raise OverlayError where a plugin may have edited the compiled code of a function, whose
    Python code is about to be interpreted or read in its place."""
    for plugin in entered_plugins(plugins, function, None):
        hooks = hooks_on_code(plugin)
        if hooks and not plugin.shares_native_cache:
            raise OverlayError(
                f"cannot interpret {name_of(function)} in the place of its compiled code, which "
                f"{plugin!r} may have edited: it has {hooks[0]}",
                where=caller() or location_of(function),
                help="replace its functions by a MethodTable in place of the plugin, or give the "
                "function as it is without the plugin, f.py_func; derivatives also exist in "
                "compiled code: ctx.jit(lambda x: autodiff(f, x))",
            )


def hear_analyses(plugins: Iterable[Plugin]) -> bool:
    """Whether a plugin has ``analysed``."""
    return any(_has(plugin, "analysed") for plugin in plugins)


def ask_analysed(plugins: Iterable[Plugin], run: Run | None, function: Any) -> None:
    """Pass the analysis of a function, if there is one, to each plugin that has ``analysed``."""
    if run is not None:
        for plugin in plugins:
            if _has(plugin, "analysed"):
                _ask(plugin, "analysed", function, lambda p=plugin, run=run: p.analysed(run))


def ask_marked(plugin: Plugin, module: MarkedModule, function: Any) -> bool:
    """Run ``marked`` on the module of a function that calls a plugin's markers; return whether it
    changed the module."""
    return bool(_ask(plugin, "marked", function, lambda: plugin.marked(module)))


def _has(plugin: Plugin, hook: str) -> bool:
    return type_attribute(type(plugin), hook) is not Plugin.__dict__[hook]


def answers(
    plugins: Iterable[Plugin], stage: str, call: Call, known: str
) -> Iterator[tuple[Plugin, Any]]:
    """The answers of plugins about a call in one stage: each one that is not None, in their order.

    known: the field of the call that holds the previous answer.
    """
    for plugin in plugins:
        if stage not in stages_of(plugin):
            continue
        hook = getattr(plugin, stage)
        answer = _ask(plugin, stage, call.caller, lambda hook=hook, call=call: hook(call))
        if answer is not None:
            yield plugin, answer
            call = replace(call, **{known: answer})


def run_stage(plugins: Iterable[Plugin], stage: str, value: Any, function: Any) -> Any:
    """Pass ``value`` from plugin to plugin through one stage; return the result of the last."""
    for plugin in plugins:
        if stage in stages_of(plugin):
            hook = getattr(plugin, stage)
            given = _ask(plugin, stage, function, lambda hook=hook, now=value: hook(now))
            value = value if given is None else given
    return value


def _ask(plugin: Plugin, stage: str, function: Any, hook: Callable[[], Any]) -> Any:
    """Run a hook; an error in it names the plugin, the stage and the function."""
    try:
        return hook()
    except OverlayError:
        raise
    except Exception as error:
        raise OverlayError(
            f"{plugin!r} failed in {stage} of {name_of(function)}: {type(error).__name__}: {error}",
            where=location_of(function),
            notes=[("plugin", f"{type(plugin).__module__}.{type(plugin).__qualname__}")],
            help=f"correct {type(plugin).__qualname__}.{stage}, or return None from enter() here",
        ) from error
