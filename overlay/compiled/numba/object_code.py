"""Serialization of compiled code: writes machine code to bytes, and loads it in another process.

The written copy is self-contained: all symbols but the function itself are internal, and its names
are unique, so that it cannot clash with other code in the process that loads it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from llvmlite import binding
from numba.core import types
from numba.core.compiler import compile_result
from numba.core.environment import Environment, lookup_environment
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.registry import cpu_target
from numba.core.typing.templates import signature

from overlay.code.digest import NotHashable
from overlay.compiled.numba.code_lifetime import ENVIRONMENT, HIDDEN
from overlay.compiled.numba.context_state import is_of_state

__all__ = ["dumped", "loaded"]

UNRESOLVED: Final = ".numba.unresolved$"
# Addresses of this process; numbers below LOWEST_ADDRESS are no addresses.
ADDRESS: Final = re.compile(r"\binttoptr \(?i64 (-?\d+)")
# constants that LLVM has moved out of a loop: a large number, or the address of a state
TAKEN_OUT: Final = re.compile(r"\bbitcast i64 (-?\d+) to i64\b")
LOWEST_ADDRESS: Final = 4096
# In pickles in compiled code: marks classes and functions that belong to no module, and that
# another process would duplicate.
BY_VALUE: Final = re.compile("_make_skeleton_(class|enum)|_make_function|_rebuild_function")
# Symbols of Python functions outside numba.
OF_OTHERS: Final = re.compile(
    r"(cfunc\.|__gufunc__\.|\.kernel\.\d+_)*_ZN(7cpython)?(?!7cpython|5numba|13_3cdynamic_3e)"
)


@dataclass(frozen=True)
class _Written:
    """Serialized code of one function; its argument types and globals are given when it is
    loaded."""

    name: str
    machine_code: bytes
    bitcode: bytes
    symbol: str
    environment: tuple[str, list[Any]]
    environments: tuple[tuple[str, list[Any]], ...]
    module: str
    qualname: str
    arguments: tuple[str, ...]
    returned: Any
    reload: tuple[Any, ...]
    enters_methods: bool


# Loaded code by its token: it stays in the process, with all objects that it refers to.
_read: dict[str, tuple[_Written, Any, Any, tuple[Any, ...]]] = {}


# ---- writing ------------------------------------------------------------------------------


def dumped(code: Any, token: str, *, enters_methods: bool, linked: Iterable[Any]) -> bytes:
    """Serialize the compiled code of one function.

    token: a part of its names in LLVM, different for different code. linked: the code itself, and
    the code of the program that it may enter. Raises NotHashable where it cannot run in another
    process.
    """
    _refuse_unwritable(code, lambda: _foreign_code(code, linked))
    environments = _environments(code)
    symbol = f"_ZN7overlay{len(token) + 1}t{token}Ev"
    renamed = {name: f"{ENVIRONMENT}_{token}_{i}" for i, name in enumerate(environments)}
    names = _names_of(code.fndesc.mangled_name)
    renamed.update(zip(names, _names_of(symbol), strict=True))
    module = _standing_alone(code.library, renamed, set(names))
    machine_code = code.library.codegen._tm.emit_object(module)
    for name in _names_of(symbol):
        _set_linkage(module, name, "linkonce_odr")
    env = code.fndesc.env_name
    if env not in renamed:
        raise NotHashable("the code", "has no place for its constants", "")
    written = _Written(
        name=code.library.name,
        machine_code=machine_code,
        bitcode=module.as_bitcode(),
        symbol=symbol,
        environment=(renamed[env], list(code.environment.consts)),
        environments=tuple((renamed[n], list(e.consts)) for n, e in environments.items()),
        module=str(code.fndesc.modname),
        qualname=code.fndesc.qualname,
        arguments=tuple(code.fndesc.args),
        returned=code.signature.return_type,
        reload=tuple(code.reload_init),
        enters_methods=enters_methods,
    )
    try:
        return pickle.dumps(written, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise NotHashable(
            "a constant of the code",
            f"cannot be pickled: {error}",
            "define the classes that compiled code uses in a module",
        ) from error


def _names_of(symbol: str) -> tuple[str, str, str]:
    """The names of a function and its wrappers in LLVM."""
    desc = _descriptor(symbol, "", "", "", (), (), types.none)
    return symbol, desc.llvm_cpython_wrapper_name, desc.llvm_cfunc_wrapper_name


def _refuse_unwritable(code: Any, foreign: Callable[[], str | None]) -> None:
    help = "hand it to the function as an argument, if it can be one"
    if code.lifted:
        raise NotHashable("the code", "contains a block that the interpreter runs", "")
    if code.library.has_dynamic_globals:
        what = "the address of an object, such as a function that is a value or a large array"
        raise NotHashable("the code", f"contains {what}", help)
    entered = foreign()
    if entered is not None:
        raise NotHashable("the code", f"enters {entered}", help)
    text = str(code.library._final_module)
    if BY_VALUE.search(text):
        raise NotHashable(
            "the code",
            "makes objects of a class that no module has under its name, or the main script",
            "define the class in a module",
        )
    addresses = ADDRESS.findall(text)
    taken_out = map(int, TAKEN_OUT.findall(text))
    if any(abs(int(n)) >= LOWEST_ADDRESS for n in addresses) or any(map(is_of_state, taken_out)):
        raise NotHashable(
            "the code",
            "contains the address of memory of this process, as of current_context().state",
            help,
        )


def _environments(code: Any) -> dict[str, Any]:
    """The constants that are Python objects, by the name of the variable that holds them."""
    found: dict[str, Any] = {}
    for variable in code.library._final_module.global_variables:
        if variable.name.startswith(ENVIRONMENT):
            environment = lookup_environment(variable.name)
            if environment is None:
                raise NotHashable("the code", "has constants that are gone", "compile it once more")
            found[variable.name] = environment
    return found


def _standing_alone(library: Any, renamed: dict[str, str], kept: set[str]) -> Any:
    """A copy of a library's LLVM module that exports only the names ``kept``, and the variables of
    constants; ``renamed`` maps old to new names."""
    module = binding.parse_bitcode(library._final_module.as_bitcode())
    _link_recursive(module, library)
    text = _resolved(module)
    if text is not None:
        module = binding.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = HIDDEN
    for variable in module.global_variables:
        environment = variable.name.startswith(ENVIRONMENT)
        if not variable.is_declaration and not environment:
            variable.linkage = HIDDEN
    for value in (*module.functions, *module.global_variables):
        if value.name in renamed:
            value.name = renamed[value.name]
    module.name = renamed[min(kept, key=len)]
    module.verify()
    return module


def _link_recursive(module: Any, library: Any) -> None:
    """Link the targets of recursive calls into a module that has inlined calls of them."""
    wanted = [v.name for v in module.global_variables if v.name.startswith(UNRESOLVED)]
    linked = [library]
    for each in linked:
        linked.extend(other for other in each._linking_libraries if other not in linked)
    for name in (name.removeprefix(UNRESOLVED) for name in wanted):
        for each in linked[1:]:
            defined = {f.name for f in module.functions if not f.is_declaration}
            if name not in defined and any(f.name == name for f in each.get_defined_functions()):
                other = binding.parse_bitcode(each._final_module.as_bitcode())
                for function in other.functions:
                    if not function.is_declaration and function.name != name:
                        function.linkage = "linkonce_odr"
                module.link_in(other)


def _resolved(module: Any) -> str | None:
    """The module's text with recursive calls bound directly to the functions to which numba would
    bind them at run time; None without such calls."""
    defined = {f.name: str(f.type) for f in module.functions if not f.is_declaration}
    lines, found = str(module).splitlines(), False
    for i, line in enumerate(lines):
        if not line.startswith(f'@"{UNRESOLVED}'):
            continue
        name = line.split('"')[1]
        target = name.removeprefix(UNRESOLVED)
        if target not in defined:
            raise NotHashable("the code", f"calls {target}, which is compiled elsewhere", "")
        found = True
        kind = defined[target]
        value = f'ptr @"{target}"' if kind == "ptr" else f'i8* bitcast ({kind} @"{target}" to i8*)'
        lines[i] = f'@"{name}" = internal constant {value}'
    return "\n".join(lines) if found else None


def _set_linkage(module: Any, name: str, linkage: str) -> None:
    for function in module.functions:
        if function.name == name:
            function.linkage = linkage


# ---- reading ------------------------------------------------------------------------------


def loaded(payload: bytes, token: str, args: tuple[Any, ...], namespace: dict[str, Any]) -> Any:
    """Load the compiled code that ``dumped`` wrote; return it, and whether it enters methods.

    args: the types of its arguments. namespace: the globals of its function. Raises NotHashable
    where this process lacks something that it needs.
    """
    if token not in _read:
        _read[token] = _read_library(pickle.loads(payload), namespace)
    written, library, environment, referenced = _read[token]
    fndesc = _descriptor(
        written.symbol,
        written.environment[0],
        written.module,
        written.qualname,
        written.arguments,
        args,
        written.returned,
    )
    context = cpu_target.target_context
    code = compile_result(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, fndesc, environment),
        fndesc=fndesc,
        library=library,
        signature=signature(written.returned, *args),
        environment=environment,
        objectmode=False,
        lifted=(),
        type_annotation="",
        reload_init=list(written.reload),
        referenced_envs=list(referenced),
    )
    context.insert_user_function(code.entry_point, fndesc, [library])
    return code, written.enters_methods


def _read_library(
    written: _Written, namespace: dict[str, Any]
) -> tuple[_Written, Any, Any, tuple[Any, ...]]:
    cpu_target.target_context.refresh()
    for initialise in written.reload:
        initialise()
    codegen = cpu_target.target_context.codegen()
    for name in _missing(binding.parse_bitcode(written.bitcode)):
        raise NotHashable("the code", f"needs {name}, which this process has not", "")
    data = written.name, "object", (written.machine_code, written.bitcode)
    library = codegen.unserialize_library(data)
    made = {name: _environment(name, namespace, consts) for name, consts in written.environments}
    name, consts = written.environment
    environment = made.get(name) or _environment(name, namespace, consts)
    for each in made.values():
        codegen.set_env(each.env_name, each)
    return written, library, environment, tuple(made.values())


def _missing(module: Any) -> Iterator[str]:
    """Names that the code refers to, and that are undefined in this process."""
    for value in (*module.functions, *module.global_variables):
        is_needed = value.is_declaration and not value.name.startswith("llvm.")
        if is_needed and binding.address_of_symbol(value.name) is None:
            yield value.name


def _environment(name: str, namespace: dict[str, Any], consts: list[Any]) -> Any:
    made = Environment(namespace)
    made.consts[:] = consts
    made.env_name = name
    Environment._memo[name] = made
    return made


def _descriptor(
    symbol: str,
    env_name: str,
    module: str,
    qualname: str,
    names: Iterable[str],
    args: tuple[Any, ...],
    returned: Any,
) -> Any:
    return PythonFunctionDescriptor(
        native=True,
        modname=module,
        qualname=qualname,
        unique_name=symbol,
        doc="",
        typemap=None,
        restype=returned,
        calltypes=None,
        args=tuple(names),
        kws=(),
        mangler=lambda *_, **__: symbol,
        argtypes=args,
        env_name=env_name,
    )


# ---- code of others -----------------------------------------------------------------------


def _foreign_code(code: Any, known: Iterable[Any]) -> str | None:
    """A description of linked code that is neither ``known`` nor numba's own, or None."""
    ours = {id(each.library) for each in known}
    seen: list[Any] = [code.library]
    for library in seen:
        seen.extend(each for each in library._linking_libraries if each not in seen)
        if id(library) in ours:
            continue
        for function in library.get_defined_functions():
            if function.linkage.name not in ("internal", HIDDEN) and OF_OTHERS.match(function.name):
                return f"{library.name}, which numba compiles by itself"
    return None
