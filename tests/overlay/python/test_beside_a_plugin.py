"""Tests of contexts, run again beside a plugin that changes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = tuple(f"tests/overlay/{name}" for name in ("python", "contexts", "core", "generics"))

COMPILES = "a plugin with around, or with enter beside a derivative, is refused by what compiles"
SHOWS = "the plugin is shown"
OTHERWISE = {
    "python/test_beside_a_plugin.py": "it is this test",
    "python/test_machine_code.py::test_machine_code_that_leads_to_no_method_is_not_told": (
        "no plugin sees calls in machine code, which is told"
    ),
    "python/test_unseen.py::test_at_the_recursion_limit_first_calls_need_as_many_frames_as_"
    "natively": "what stands around a call has a frame",
    "python/test_sites.py::test_code_without_such_instructions_is_no_longer_instrumented": (
        "one of its contexts has no plugins"
    ),
    "python/test_memory.py::test_a_builtin_function_does_not_keep_a_module_that_was_dropped": (
        "tools see a function in its place, which is never freed"
    ),
    "python/test_compiled_callees.py": COMPILES,
    "python/test_engines.py::test_a_release_where_it_fails_is_refused_by_the_kind": COMPILES,
    "core/test_table.py::test_a_table_may_refuse_what_a_call_resolved_to": COMPILES,
    "core/test_pickling.py::test_compiled_code_": COMPILES,
    "generics/test_generic.py::test_a_compiled_program_calls_it": COMPILES,
    "python/test_engine_logs.py": SHOWS,
    "contexts/test_report.py::test_the_report_reads_as_text": SHOWS,
    "contexts/test_composition.py::test_the_right_sides_flags_win": SHOWS,
    "contexts/test_block.py::test_without_an_engine_entering_warns_of_targets": SHOWS,
    "core/test_table.py::test_contexts_are_immutable_values": SHOWS,
}


@pytest.mark.long
@pytest.mark.parametrize("hook", ["around", "enter"])
def test_the_tests_of_contexts_pass_beside_a_plugin(hook):
    left_out = [f"--deselect=tests/overlay/{test}" for test in OTHERWISE]
    options = ["-q", "-n", "0", "-m", "not long", "--hypothesis-profile", "quick", *left_out]
    beside = ["-p", "tests.overlay.beside_a_plugin"]
    command = [sys.executable, "-m", "pytest", *beside, *options, *FOLDERS]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "BESIDE": hook},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
