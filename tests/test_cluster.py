"""Contexts and inverses on clusters of worker processes, and in pools of other libraries."""

import concurrent.futures
import json
import math
import multiprocessing
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from inversion import NoSolution, invert
from overlay import Context, MethodTable, call_next
from tests.inversion.running.batch_programs import LINE, VALUES, line, total

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
joblib = pytest.importorskip("joblib")

PATIENCE = 300  # seconds: long enough for any machine, as nothing here is about time
SHIPPED = """
    import math
    import os
    import signal
    from overlay import Context, MethodTable, call_next

    table = MethodTable("shipped")

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return 10 + call_next(x)

    ctx = Context(table)

    def wave(x):
        return math.sin(x)

    done = []

    def one_worker_dies(block, note):
        '''The block; the first process to have had five of them is killed.'''
        done.append(1)
        if len(done) == 5:
            try:
                file = os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return block
            os.write(file, str(os.getpid()).encode())
            os.kill(os.getpid(), signal.SIGKILL)
        return block
"""
IN_MAIN = """
    import json, math, sys
    import dask.array as da
    import joblib
    import numpy as np
    from distributed import Client
    from overlay import Context, MethodTable, call_next
    from inversion import invert

    table = MethodTable("main")

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return 10 + call_next(x)

    def wave(x):
        return math.sin(x)

    def line(x: float):
        return 4 * x + 1

    ctx, inverse = Context(table), invert(line, cache=sys.argv[2])
    work = (ctx.wrap(wave), inverse)
    found = {"joblib": joblib.Parallel(2)(joblib.delayed(each)(1.0) for each in work)}
    with Client(scheduler_file=sys.argv[1]) as client:
        found["wrapped"] = client.gather(client.map(ctx.wrap(wave), [0.0, 1.0]))
        found["compiled"] = client.submit(ctx.jit(wave), 1.0).result()
        (x,) = inverse.batch(da.arange(1.0, 41.0, 4.0, chunks=10))
        found["batch"] = x.compute().tolist()
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "shipped_to_cluster.py").write_text(textwrap.dedent(SHIPPED))
    return folder


@pytest.fixture(scope="module")
def shipped(place):
    """A module that workers can import too."""
    sys.path.insert(0, str(place))
    import shipped_to_cluster

    yield shipped_to_cluster
    sys.path.remove(str(place))
    del sys.modules["shipped_to_cluster"]


@pytest.fixture(scope="module")
def inverses(place):
    """Of ``line`` and ``total``; their code is on disk: compiled once for all processes here."""
    one, several = (invert(f, cache=str(place / "cache")) for f in (line, total))
    one.batch(VALUES), several.batch(VALUES, theta=several.parameters.default())
    return one, several


@pytest.fixture(scope="module")
def inverse(inverses):
    return inverses[0]


@pytest.fixture(scope="module")
def cluster(shipped):
    """A client of two worker processes that this one has started."""
    with (
        distributed.LocalCluster(
            2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def scheduler_file(place, shipped):
    """Of a scheduler and two workers that are programs of their own."""
    file = place / "scheduler.json"
    here = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))
    commands = [
        ("scheduler", "--port", "0", *here),
        *[("worker", "--no-nanny", "--nthreads", "1", *here)] * 2,
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), *sys.path])}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "dask", *command], env=environment, stderr=subprocess.DEVNULL
        )
        for command in commands
    ]
    yield file
    for program in running:
        program.kill()
        program.wait()


@pytest.fixture(scope="module")
def programs(scheduler_file):
    with distributed.Client(
        scheduler_file=str(scheduler_file), timeout=PATIENCE, set_as_default=False
    ) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


def on_workers(client, lazy):
    return client.gather(client.compute(lazy))


# ---- contexts and tables --------------------------------------------------------------------


def test_workers_run_what_a_module_holds_in_its_context(cluster, shipped):
    expected = [10 + math.sin(x) for x in (0.5, 1.0)]
    assert cluster.gather(cluster.map(shipped.ctx.wrap(shipped.wave), [0.5, 1.0])) == expected
    assert cluster.submit(shipped.ctx, shipped.wave, 0.5).result() == expected[0]


def test_a_change_of_a_table_makes_another_task(cluster, shipped):
    table = MethodTable("changing")
    work = Context(table).wrap(shipped.wave)
    before = cluster.submit(work, 0.5)
    assert before.result() == math.sin(0.5)

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return 2 * call_next(x)

    assert cluster.submit(work, 0.5).result() == 2 * math.sin(0.5)
    assert before.result() == math.sin(0.5)


# ---- inverses -------------------------------------------------------------------------------


def test_calls_of_an_inverse_run_on_workers(cluster, inverse):
    offset = 4.0
    local = invert(lambda x, y: x * y + offset, float, float)
    assert cluster.submit(inverse, 5.0).result() == (1.0,)
    x, y = cluster.submit(local, 10.0, local.parameters.default()).result()
    assert x * y + offset == pytest.approx(10.0)
    asked = cluster.submit(invert(lambda x: math.exp(x), float), -1.0)
    assert isinstance(asked.exception(), NoSolution)


def test_a_batch_runs_on_workers_and_its_progress_is_shown(cluster, inverse, capsys):
    lazy = inverse.batch(da.from_array(VALUES, chunks=3))[0]
    running = cluster.persist(lazy)
    with cluster.as_current():
        distributed.progress(running, notebook=False)
    assert "100% Completed" in capsys.readouterr().out
    assert len(cluster.who_has(running)) == 8
    np.testing.assert_array_equal(on_workers(cluster, running), inverse.batch(VALUES)[0])


def test_separate_workers_solve_batches(programs, inverses):
    one, several = inverses
    known = da.from_array(VALUES, chunks=6)
    theta = several.parameters.sample(np.random.default_rng(0), 24)
    found = on_workers(programs, [*one.batch(known), *several.batch(known, theta=theta)])
    wanted = [*one.batch(VALUES), *several.batch(VALUES, theta=theta)]
    np.testing.assert_array_equal(found, wanted)


def test_what_the_main_module_holds_runs_on_separate_workers(programs, scheduler_file, place):
    command = [sys.executable, "-", str(scheduler_file), str(place / "cache")]
    done = subprocess.run(
        command, input=textwrap.dedent(IN_MAIN), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    waves = [10.0, 10 + math.sin(1.0)]
    assert json.loads(done.stdout) == {
        "joblib": [waves[1], [0.0]],
        "wrapped": waves,
        "compiled": waves[1],
        "batch": list(range(10)),
    }


def test_a_worker_that_is_killed_in_the_middle_loses_nothing(programs, shipped, inverse, place):
    """The last test on these workers: one is left."""
    values, note = np.linspace(-4, 9, 400), place / "killed"
    known = da.from_array(values, chunks=10).map_blocks(
        shipped.one_worker_dies, str(note), dtype=float, meta=np.empty(0)
    )
    before = set(programs.run(os.getpid).values())
    found = on_workers(programs, inverse.batch(known)[0])
    np.testing.assert_array_equal(found, inverse.batch(values)[0])
    killed = int(note.read_text())
    assert before - set(programs.run(os.getpid).values()) == {killed}


# ---- pools of processes ---------------------------------------------------------------------


def test_a_process_pool_runs_an_inverse():
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert list(pool.map(LINE, [5.0, 7.0])) == [(1.0,), (2.0,)]
