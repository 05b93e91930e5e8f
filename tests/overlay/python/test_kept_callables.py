"""Functions that the interpreter or a library keeps, and calls later: in which context they run.

Each row registers a function in one place and makes its call in another. A function *at the call*
runs in what is in force where the call is made, one *at registration* in what was in force where it
was handed on: such a library keeps the context variables of that place, or we do for it.
"""

import asyncio
import atexit
import concurrent.futures
import contextvars
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
import weakref

import pytest

from overlay import Context, MethodTable, install


def who():
    return "nobody"


table = MethodTable("kept")
table.overlay(who)(lambda: "context")


class Thing:
    pass


class Dying:
    def __init__(self, function):
        self.function = function

    def __del__(self):
        self.function()


# ---- each registers a function, and gives what makes its call ---------------------------------


def thread(f):
    made = threading.Thread(target=f)
    return lambda: (made.start(), made.join())


def timer(f):
    made = threading.Timer(0, f)
    return lambda: (made.start(), made.join())


def running_thread(f):
    go = threading.Event()
    made = threading.Thread(target=lambda: (go.wait(), f()))
    made.start()
    return lambda: (go.set(), made.join())


def exit_function(f):
    atexit.register(f)
    return lambda: (atexit.unregister(f), f())  # the exit of a process has its own test below


def handler_of_signal(f):
    before = signal.signal(signal.SIGUSR1, f)
    return lambda: (signal.raise_signal(signal.SIGUSR1), signal.signal(signal.SIGUSR1, before))


def finalizer(f):
    things = [Thing()]
    weakref.finalize(things[0], f)
    return things.clear


def weak_reference(f):
    things = [Thing()]
    references.append(weakref.ref(things[0], f))
    return things.clear


references: list[object] = []


def end_of_an_object(f):
    things = [Dying(f)]
    return things.clear


def end_of_a_cycle(f):
    things = [Dying(f)]
    things[0].itself = things[0]
    return lambda: (things.clear(), gc.collect())


def collector(f):
    gc.callbacks.append(f)
    return lambda: (gc.collect(0), gc.callbacks.remove(f))


def hook(holder, name, call):
    """A row for a function that replaces an attribute of a module."""

    def registered(f):
        before = getattr(holder, name)
        setattr(holder, name, f)
        return lambda: (call(), setattr(holder, name, before))

    registered.__name__ = f"{holder.__name__}.{name}"
    return registered


def fails_in_a_thread():
    made = threading.Thread(target=lambda: 1 / 0)
    made.start()
    made.join()


def fails_at_the_end():
    def fails():
        raise ValueError

    Dying(fails)


def tracer(name):
    """A row for ``sys.settrace`` or ``sys.setprofile``."""
    change, current = getattr(sys, f"set{name}"), getattr(sys, f"get{name}")

    def registered(f):
        before = current()

        def traced(frame, *event):
            if frame.f_code is marked.__code__:
                change(before)
                f()

        def marked():
            pass

        change(traced)
        return lambda: (marked(), change(before))

    registered.__name__ = f"sys.set{name}"
    return registered


def of_loop(register, seconds=0.0):
    """A row for what an event loop calls, which does not run yet."""

    def registered(f):
        loop = asyncio.new_event_loop()
        later = register(loop, f)

        def call():
            if callable(later):
                later()
            loop.run_until_complete(asyncio.sleep(seconds))
            loop.close()

        return call

    return registered


def future_of_loop(loop, f):
    future = loop.create_future()
    future.add_done_callback(f)
    return lambda: future.set_result(None)


def signal_of_loop(loop, f):
    loop.add_signal_handler(signal.SIGUSR1, f)
    return lambda: os.kill(os.getpid(), signal.SIGUSR1)


def errors_of_loop(loop, f):
    loop.set_exception_handler(f)
    return lambda: loop.call_exception_handler({})


def task_of_loop(loop, f):
    async def task():
        f()

    references.append(loop.create_task(task()))


def callback_of_future(f):
    future = concurrent.futures.Future()
    future.add_done_callback(f)
    return lambda: future.set_result(None)


def callback_of_a_future_that_is_done(f):
    future = concurrent.futures.Future()
    future.set_result(None)
    return lambda: future.add_done_callback(f)


def work_of_a_pool(f):
    pool, go = concurrent.futures.ThreadPoolExecutor(1), threading.Event()
    pool.submit(go.wait)
    pool.submit(f)
    return lambda: (go.set(), pool.shutdown())


def variables(f):
    copied = contextvars.copy_context()
    return lambda: copied.run(f)


AT_THE_CALL = {
    "threading.Thread, not started": thread,
    "threading.Timer, not started": timer,
    "atexit.register": exit_function,
    "signal.signal": handler_of_signal,
    "weakref.finalize": finalizer,
    "weakref.ref": weak_reference,
    "__del__": end_of_an_object,
    "__del__ of a cycle": end_of_a_cycle,
    "gc.callbacks": collector,
    "sys.settrace": tracer("trace"),
    "sys.setprofile": tracer("profile"),
    "sys.excepthook": hook(sys, "excepthook", lambda: sys.excepthook(ValueError, None, None)),
    "threading.excepthook": hook(threading, "excepthook", fails_in_a_thread),
    "sys.unraisablehook": hook(sys, "unraisablehook", fails_at_the_end),
    "sys.displayhook": hook(sys, "displayhook", lambda: exec(compile("1", "", "single"))),
    "warnings.showwarning": hook(warnings, "showwarning", lambda: warnings.warn("w", stacklevel=1)),
    "loop.set_exception_handler": of_loop(errors_of_loop),
    "Future.add_done_callback, done": callback_of_a_future_that_is_done,
}
AT_REGISTRATION = {
    "threading.Thread, started": running_thread,
    "contextvars.copy_context": variables,
    "loop.call_soon": of_loop(lambda loop, f: loop.call_soon(f)),
    "loop.call_soon_threadsafe": of_loop(lambda loop, f: loop.call_soon_threadsafe(f)),
    "loop.call_later": of_loop(lambda loop, f: loop.call_later(0, f), 0.01),
    "loop.call_at": of_loop(lambda loop, f: loop.call_at(0, f), 0.01),
    "loop.create_task": of_loop(task_of_loop),
    "loop.add_signal_handler": of_loop(signal_of_loop, 0.05),
    "asyncio.Future.add_done_callback": of_loop(future_of_loop),
    "ThreadPoolExecutor.submit": work_of_a_pool,
}
# by row: who is found where the function was registered in a context that has ended, and where it
# was registered before a context in which the call is made
ROWS = {
    **{name: (row, "nobody", "context") for name, row in AT_THE_CALL.items()},
    **{name: (row, "context", "nobody") for name, row in AT_REGISTRATION.items()},
    # of a registration in a context, else of the code that completes the future
    "Future.add_done_callback": (callback_of_future, "context", "context"),
}


def run(context, function, *args):
    return context(function, *args)


def in_block(context, function, *args):
    with context:
        return function(*args)


def installed(context, function, *args):
    with install(context):
        return function(*args)


def keeping(row):
    """Register a function by a row; what makes the call, and gives who it found."""
    found = []

    def kept(*args):
        found.append(who())

    kept.keep = lambda: row(kept)
    return kept, found


@pytest.fixture(autouse=True)
def warnings_are_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield
    references.clear()


@pytest.mark.parametrize("enter", [run, in_block, installed])
@pytest.mark.parametrize(("row", "ended", "inside"), ROWS.values(), ids=ROWS)
def test_a_kept_function_runs_in_the_context_of_its_call_or_of_its_registration(
    row, ended, inside, enter
):
    kept, found = keeping(row)
    call = enter(Context(table), kept.keep)  # which has ended when the call is made
    call()
    assert set(found) == {ended}

    kept, found = keeping(row)
    call = kept.keep()
    enter(Context(table), call)
    assert set(found) == {inside}


@pytest.mark.parametrize("row", [row for row, *_ in ROWS.values()], ids=ROWS)
def test_a_kept_function_that_is_wrapped_runs_in_its_context(row):
    kept, found = keeping(row)
    row(Context(table).wrap(kept))()
    assert set(found) == {"context"}


@pytest.mark.parametrize(
    ("begin", "at_exit", "uncaught"),
    [
        ("context(register)", "nobody", "nobody"),
        ("with context: register()", "nobody", "nobody"),
        ("with install(context): register()", "nobody", "nobody"),
        ("install(context); register()", "context", "context"),
        ("register(); install(context)", "nobody", "context"),
        ("register(context.wrap)", "context", "context"),
    ],
)
def test_at_the_end_of_a_program_what_is_installed_is_in_force(tmp_path, begin, at_exit, uncaught):
    path = tmp_path / "program.py"
    text = f"""
        import atexit, sys
        from overlay import Context, MethodTable, install

        def who():
            return "nobody"

        table = MethodTable("kept")
        table.overlay(who)(lambda: "context")
        context = Context(table)

        def register(wrap=lambda f: f):
            atexit.register(wrap(lambda: print(who())))
            sys.excepthook = wrap(lambda *error: print(who()))

        {begin}
        raise ValueError
    """
    path.write_text(textwrap.dedent(text))
    done = subprocess.run(
        [sys.executable, path],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
    )
    assert (done.stdout.split(), done.stderr) == ([uncaught, at_exit], "")
