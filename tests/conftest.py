"""The long tests, which are left to ``make test-long``, those of which ``make test`` takes samples,
and the order of tests.

A test is long where it is slow and broad: what it would find is mostly found by quicker tests, too.
"""

import gc
import sys
from collections import Counter

import pytest
from hypothesis.internal.entropy import deterministic_PRNG

LONG = {  # folders and files: which of their tests, or () for all
    "tests/bench/test_barrier.py": (),
    "tests/bench/test_choosing.py": (),
    "tests/bench/test_compile_time.py": (),
    "tests/bench/test_compiled_engine.py": (),
    "tests/bench/test_derivatives.py": (),
    "tests/bench/test_growth.py": (),
    "tests/bench/test_report.py": ("test_docstrings_claim_no_speed_since_they_have_no_links",),
    "tests/conformance": (),
    "tests/fuzz/test_fuzz.py": ("test_a_campaign_in_a_process_of_its_own_counts_what_was_reached",),
    "tests/inversion/emitting/test_in_compiled_code.py": (
        "test_derivatives_are_those_of_the_equation",
    ),
    "tests/inversion/emitting/test_in_kernels.py": (
        "test_answers_and_their_derivatives_are_nan_where_there_is_none",
    ),
    "tests/inversion/emitting/test_shared_searches.py": ("test_the_search_is_compiled_once",),
    "tests/inversion/passes/test_bit_forms.py": (
        "test_all_solutions_of_random_programs_are_found",
    ),
    "tests/inversion/planning/test_linear_blocks.py": (
        "test_two_equations_are_one_system_and_need_no_search",
    ),
    "tests/inversion/running/test_cache.py": (
        "test_a_batch_has_what_is_kept_on_disk_loaded_in_the_background",
        "test_another_process_loads_what_one_has_compiled",
        "test_inverses_that_search_are_kept",
    ),
    "tests/inversion/running/test_compiled.py": (
        "test_code_is_found_for_classes_of_one_name_that_come_and_go",
    ),
    "tests/inversion/running/test_dask.py": ("test_chunks_are_solved_by_threads_and_processes",),
    "tests/inversion/running/test_forms.py": (
        "test_many_rows_wait_for_their_loop",
        "test_rows_in_sequence_are_compiled_after_much_of_numpy",
    ),
    "tests/inversion/running/test_quick.py": ("test_one_theta_for_all_rows_is_one_in_each",),
    "tests/inversion/solving/test_least_squares.py": (
        "test_more_results_than_unknowns_are_exact_where_they_agree_and_else_name_the_fit",
    ),
    "tests/inversion/solving/test_ranges.py": (
        "test_of_several_numbers_of_turns_the_one_closest_to_the_choice_is_taken",
    ),
    "tests/inversion/tools/test_standalone.py": (
        "test_no_line_of_source_or_text_is_longer_than_a_page",
        "test_worked_programs_run_by_themselves",
    ),
    "tests/laws/test_random_programs.py": (
        "test_most_programs_that_use_variables_again_are_answered",
        "test_nearly_every_program_that_uses_each_variable_once_is_answered",
    ),
    "tests/laws/test_trying.py": ("test_no_random_program_is_inverted_wrongly",),
    "tests/notebooks/test_notebooks.py": ("test_a_notebook_runs_and_shows_what_is_in_it",),
    "tests/overlay/analysis/test_program_checks.py": (
        "test_planted_errors_are_found",
        "test_public_functions_of_the_standard_library_are_silent",
    ),
    "tests/overlay/compiled/cache/test_cache.py": (
        "test_another_process_finds_the_code_of_every_kind_of_program",
    ),
    "tests/overlay/compiled/cuda/test_gpu_check.py": (),
    "tests/overlay/compiled/cuda/test_requirements.py": (
        "test_r13_second_and_third_derivatives",
        "test_third_derivatives_of_functions_of_math_are_compiled",
    ),
    "tests/overlay/compiled/cuda/test_serialisable.py": (
        "test_processes_write_the_same_bytes_and_read_what_others_wrote",
    ),
    "tests/overlay/compiled/cuda/test_simulator.py": (
        "test_simulated_kernels_give_what_the_cpu_gives",
    ),
    "tests/overlay/compiled/test_call_next.py": (
        "test_targets_are_reached_from_numbas_higher_order_functions",
    ),
    "tests/overlay/compiled/test_code_lifetime.py": ("test_redefinitions_leave_nothing",),
    "tests/overlay/compiled/test_contexts.py": (
        "test_a_function_of_a_context_keeps_it_also_in_code_of_that_context",
    ),
    "tests/overlay/compiled/test_entering.py": (
        "test_numbas_own_implementations_are_entered_where_that_is_asked_for",
    ),
    "tests/overlay/compiled/test_plugins_distributions.py": (
        "test_the_order_in_which_contexts_are_joined_decides",
        "test_the_order_of_imports_changes_nothing",
    ),
    "tests/overlay/compiled/test_published.py": (),
    "tests/overlay/compiled/test_redefinition.py": (
        "test_a_context_is_collected_with_all_that_it_compiled",
        "test_what_an_inlined_function_reads_and_calls_is_seen",
    ),
    "tests/overlay/compiled/test_sharing.py": (
        "test_a_context_leaves_nothing_though_another_uses_what_it_compiled",
        "test_contexts_one_after_the_other_share_what_the_first_has_compiled_and_leave_nothing",
        "test_functions_that_numbas_own_code_calls_are_part_of_it",
    ),
    "tests/overlay/compiled/test_symbols.py": (
        "test_functions_in_code_on_disk_are_not_called_by_others",
    ),
    "tests/overlay/compiled/test_traces.py": (
        "test_code_from_disk_shows_the_frames_in_another_process",
    ),
    "tests/overlay/compiled/test_types.py": (
        "test_both_engines_choose_the_same_method_for_every_annotation_and_value",
    ),
    "tests/overlay/compiled/test_versions.py": (
        "test_with_an_unknown_numba_programs_are_interpreted",
    ),
    "tests/overlay/compiled/test_what_was_read.py": (
        "test_kept_code_is_not_used_for_another_constant",
    ),
    "tests/overlay/contracts/test_plugin_contracts.py": (
        "test_plugins_of_the_project_keep_their_contracts",
    ),
    "tests/overlay/interpretations/autodiff/test_array_functions.py": ("test_they_are_compiled",),
    "tests/overlay/interpretations/autodiff/test_compiled_forms.py": (
        "test_compiled_gradients_are_those_of_interpreted_code",
    ),
    "tests/overlay/interpretations/autodiff/test_compiled_maps.py": (
        "test_compiled_derivatives_of_functions_of_arrays_are_those_of_interpreted_code",
    ),
    "tests/overlay/interpretations/autodiff/test_escapes.py": (
        "test_the_inner_of_two_derivatives_is_looked_at",
        "test_what_a_kept_exception_holds_is_looked_for_once",
    ),
    "tests/overlay/interpretations/autodiff/test_plain_and_active.py": (
        "test_a_rule_is_checked_in_second_derivatives",
    ),
    "tests/overlay/interpretations/autodiff/test_rules.py": (
        "test_compiled_code_uses_the_same_rules_of_arrays",
    ),
    "tests/overlay/interpretations/probabilistic/test_compiled_chains.py": (
        "test_a_branch_on_a_finite_choice_is_drawn_by_running_the_whole_program",
        "test_conditional_draws_are_the_same",
        "test_mixtures_arrays_and_libraries_have_the_same_chain",
    ),
    "tests/overlay/interpretations/probabilistic/test_hamiltonian.py": (
        "test_compiled_trajectories_are_those_of_the_interpreter",
    ),
    "tests/overlay/interpretations/probabilistic/test_known_posteriors.py": (
        "test_a_change_of_the_rate_of_coal_mining_disasters",
        "test_a_coin",
        "test_a_hidden_markov_chain",
        "test_a_mixture_with_finite_assignments",
        "test_eight_schools",
        "test_linear_regression",
        "test_spins_in_a_row",
    ),
    "tests/overlay/native/test_safety.py": (
        "test_contexts_come_and_go_in_threads_that_call_and_redefine",
    ),
    "tests/overlay/python/test_sites.py": (
        "test_sixteen_threads_apply_and_redefine",
        "test_the_depth_of_the_stack_is_known_in_all_code_of_the_standard_library",
    ),
    "tests/overlay/test_soak.py": (),
    "tests/overlay/tools/test_pytest_plugin.py": ("test_what_happens_in_workers_is_told_together",),
    "tests/primitives/integers/test_modular_powers.py": (
        "test_all_exponents_are_found",
        "test_all_roots_are_found",
    ),
    "tests/primitives/sequences/test_sequences.py": (
        "test_every_letter_of_unicode_is_reached_from_what_it_becomes",
    ),
    "tests/soak": (),
    "tests/strangers/test_derivatives_of_strangers.py": (),
    "tests/strangers/test_differentiable_functions.py": (),
    "tests/strangers/test_enzyme.py": (
        "test_a_derivative_that_was_compiled_is_loaded_by_another_process",
    ),
    "tests/strangers/test_strangers.py": (),
    "tests/test_cluster.py": (),
    "tests/test_project.py": (
        "test_a_package_of_ours_that_another_hides_is_named_with_a_remedy",
        "test_a_release_has_the_urls_of_the_project_and_no_relative_link",
        "test_sdist_holds_what_the_tests_and_the_targets_of_make_need",
        "test_wheel_holds_the_three_packages_with_their_type_markers_and_nothing_else",
    ),
}
HALVED = (  # files of many tests that compile or start processes: every other one is quick
    "tests/inversion/arrays/test_arrays.py",
    "tests/inversion/emitting/test_in_compiled_code.py",
    "tests/inversion/emitting/test_in_kernels.py",
    "tests/inversion/emitting/test_raising.py",
    "tests/inversion/lifting/test_functions.py",
    "tests/inversion/running/test_batches.py",
    "tests/inversion/running/test_compiled.py",
    "tests/inversion/running/test_dask.py",
    "tests/inversion/running/test_lockstep.py",
    "tests/inversion/solving/test_asking.py",
    "tests/inversion/test_completeness.py",
    "tests/inversion/test_refusals.py",
    "tests/inversion/test_worked_programs.py",
    "tests/overlay/compiled/cache/test_cache.py",
    "tests/overlay/compiled/cuda/test_kernels.py",
    "tests/overlay/compiled/cuda/test_requirements.py",
    "tests/overlay/compiled/cuda/test_reverse.py",
    "tests/overlay/compiled/cuda/test_thread_indices.py",
    "tests/overlay/compiled/test_barrier.py",
    "tests/overlay/compiled/test_calls.py",
    "tests/overlay/compiled/test_chosen_functions.py",
    "tests/overlay/compiled/test_compilation_reports.py",
    "tests/overlay/compiled/test_compilations.py",
    "tests/overlay/compiled/test_contexts.py",
    "tests/overlay/compiled/test_declarations.py",
    "tests/overlay/compiled/test_entering.py",
    "tests/overlay/compiled/test_kernels.py",
    "tests/overlay/compiled/test_markers.py",
    "tests/overlay/compiled/test_parallel_errors.py",
    "tests/overlay/compiled/test_parameters.py",
    "tests/overlay/compiled/test_plugins.py",
    "tests/overlay/compiled/test_plugins_on_values.py",
    "tests/overlay/compiled/test_program_plugins.py",
    "tests/overlay/compiled/test_redefinition.py",
    "tests/overlay/compiled/test_sharing.py",
    "tests/overlay/compiled/test_traces.py",
    "tests/overlay/compiled/test_what_was_read.py",
    "tests/overlay/contracts/test_plugin_contracts.py",
    "tests/overlay/interpretations/autodiff/test_adding.py",
    "tests/overlay/interpretations/autodiff/test_constructs.py",
    "tests/overlay/interpretations/autodiff/test_escapes.py",
    "tests/overlay/interpretations/autodiff/test_forward.py",
    "tests/overlay/interpretations/autodiff/test_plain_and_active.py",
    "tests/overlay/interpretations/autodiff/test_reverse.py",
    "tests/overlay/interpretations/autodiff/test_rules.py",
    "tests/overlay/interpretations/probabilistic/test_compiled_chains.py",
    "tests/overlay/interpretations/probabilistic/test_hamiltonian.py",
    "tests/overlay/interpretations/test_gallery.py",
    "tests/overlay/interpretations/test_numba_callees.py",
    "tests/overlay/interpretations/test_precision.py",
    "tests/overlay/native/test_safety.py",
    "tests/overlay/plugins/test_flow.py",
    "tests/overlay/plugins/test_ir.py",
    "tests/overlay/python/test_machine_code.py",
    "tests/overlay/python/test_tools_beside.py",
    "tests/overlay/tools/test_command_line.py",
    "tests/overlay/tools/test_install.py",
    "tests/overlay/tools/test_pytest_plugin.py",
    "tests/primitives/arrays/test_arrays.py",
    "tests/strangers/test_compiler_plugins.py",
    "tests/strangers/test_enzyme.py",
    "tests/strangers/test_gpu_compiler.py",
)
EVERY = {  # of tests with many parameters, every so many are in the quick run
    "tests/fuzz/test_fuzz.py::test_a_short_campaign_gets_to_what_it_is_for": 2,
    "tests/fuzz/test_fuzz.py::test_what_has_failed_once_passes": 3,
    "tests/inversion/arrays/test_arrays.py": 7,
    "tests/inversion/contraction/test_contractors.py": 5,
    "tests/inversion/lifting/test_exits.py::test_compiled_inverses_answer_alike": 9,
    "tests/inversion/lifting/test_functions.py": 5,
    "tests/inversion/lifting/test_mixed_numbers.py": 7,
    "tests/inversion/lifting/test_strings_in_loops.py": 7,
    "tests/inversion/lifting/test_turns.py::test_compiled_inverses_answer_alike": 3,
    "tests/inversion/passes/test_polar.py::test_compiled_and_interpreted_answer_alike": 2,
    "tests/inversion/program/test_branches.py::test_compiled_inverses_answer_alike": 12,
    "tests/inversion/program/test_loops.py::test_compiled_inverses_answer_alike": 12,
    "tests/inversion/program/test_naming.py": 5,
    "tests/inversion/running/test_compiled.py::test_a_compiled_inverse_keeps_its_program": 4,
    "tests/inversion/running/test_lockstep.py": 3,
    "tests/inversion/running/test_quick.py": 4,
    "tests/inversion/solving/test_bounds.py::test_all_numbers_beyond_a_bound_are_reached": 6,
    "tests/inversion/solving/test_smt_relations.py": 9,
    "tests/inversion/solving/test_trials.py": 3,
    "tests/inversion/test_integers.py": 8,
    "tests/inversion/test_inverse_problems.py": 9,
    "tests/inversion/test_invert.py": 3,
    "tests/inversion/test_what_others_cannot.py": 5,
    "tests/inversion/test_worked_programs.py": 5,
    "tests/inversion/tools/test_formulas.py": 5,
    "tests/laws/test_classes_are_asked.py": 4,
    "tests/laws/test_composition.py::test_compiled": 80,
    "tests/laws/test_composition.py::test_enclosures_of_compositions": 15,
    "tests/laws/test_composition.py::test_in_kernels": 87,
    "tests/laws/test_composition.py::test_interpreted": 8,
    "tests/laws/test_composition.py::test_the_derivative_of_an_enclosing_composition": 4,
    "tests/laws/test_composition.py::test_the_last_derivative_in_reverse": 4,
    "tests/laws/test_composition.py::test_the_last_overlay_is_the_context_that_runs_the_rest": 10,
    "tests/laws/test_edits_are_seen.py": 11,
    "tests/laws/test_methods_apply_once.py": 50,
    "tests/laws/test_methods_apply_once.py::test_a_compiled_derivative": 20,
    "tests/laws/test_methods_apply_once.py::test_a_compiled_enclosure": 20,
    "tests/laws/test_overlays_are_obeyed.py": 25,
    "tests/laws/test_registries_obey_overlays.py": 5,
    "tests/laws/test_relations.py": 10,
    "tests/laws/test_relations.py::test_compiled_modes_answer_as_interpreted_ones": 90,
    "tests/laws/test_what_c_code_applies.py": 5,
    "tests/laws/test_wrappers.py": 3,
    "tests/notebooks/test_notebooks.py": 4,
    "tests/overlay/analysis/test_program_checks.py::test_the_standard_library_is_silent": 20,
    "tests/overlay/code/test_decoding.py": 3,
    "tests/overlay/compiled/cuda/test_modes.py": 4,
    "tests/overlay/compiled/cuda/test_optimiser.py": 16,
    "tests/overlay/compiled/cuda/test_simulator.py": 3,
    "tests/overlay/compiled/test_barrier.py": 3,
    "tests/overlay/compiled/test_chosen_functions.py": 6,
    "tests/overlay/compiled/test_code_lifetime.py": 4,
    "tests/overlay/compiled/test_compilations.py": 3,
    "tests/overlay/compiled/test_declarations.py": 10,
    "tests/overlay/compiled/test_dispatch_matrix.py": 5,
    "tests/overlay/compiled/test_element_errors.py": 4,
    "tests/overlay/compiled/test_failures_again.py": 4,
    "tests/overlay/compiled/test_function_values.py": 8,
    "tests/overlay/compiled/test_handlers.py": 4,
    "tests/overlay/compiled/test_held_contents.py": 4,
    "tests/overlay/compiled/test_numba_library.py": 5,
    "tests/overlay/compiled/test_plain_callers.py": 4,
    "tests/overlay/compiled/test_plugins_on_values.py": 6,
    "tests/overlay/compiled/test_program_plugins.py": 4,
    "tests/overlay/compiled/test_traces.py::test_the_frames_are_those_of_the_interpreter": 3,
    "tests/overlay/compiled/test_what_was_read.py": 8,
    "tests/overlay/compiled/test_words.py": 3,
    "tests/overlay/contracts/test_plugin_contracts.py": 4,
    "tests/overlay/interpretations/autodiff/test_accuracy.py": 3,
    "tests/overlay/interpretations/autodiff/test_array_programs.py": 3,
    "tests/overlay/interpretations/autodiff/test_array_rules.py": 48,
    "tests/overlay/interpretations/autodiff/test_beneath_plugins.py": 12,
    "tests/overlay/interpretations/autodiff/test_compiled_forms.py": 3,
    "tests/overlay/interpretations/autodiff/test_complex_adjoints.py": 3,
    "tests/overlay/interpretations/autodiff/test_constructs.py": 4,
    "tests/overlay/interpretations/autodiff/test_constructs.py::test_compiled_it_is_right": 30,
    "tests/overlay/interpretations/autodiff/test_default_arguments.py": 24,
    "tests/overlay/interpretations/autodiff/test_escapes.py": 3,
    "tests/overlay/interpretations/autodiff/test_imports_inside.py": 3,
    "tests/overlay/interpretations/autodiff/test_kinds_of_results.py": 6,
    "tests/overlay/interpretations/autodiff/test_linear_algebra.py": 9,
    "tests/overlay/interpretations/autodiff/test_nesting.py": 4,
    "tests/overlay/interpretations/autodiff/test_plain_and_active.py": 6,
    "tests/overlay/interpretations/autodiff/test_rules.py": 10,
    "tests/overlay/interpretations/autodiff/test_scipy_distributions.py": 3,
    "tests/overlay/interpretations/autodiff/test_scipy_integration.py": 3,
    "tests/overlay/interpretations/autodiff/test_scipy_interpolation.py": 3,
    "tests/overlay/interpretations/autodiff/test_scipy_optimization.py": 8,
    "tests/overlay/interpretations/autodiff/test_scipy_reductions.py": 3,
    "tests/overlay/interpretations/autodiff/test_text.py": 8,
    "tests/overlay/interpretations/autodiff/test_ufunc_methods.py": 8,
    "tests/overlay/interpretations/autodiff/test_users_adjoints.py": 4,
    "tests/overlay/interpretations/autodiff/test_whole_arrays.py": 6,
    "tests/overlay/interpretations/batching/test_law.py": 4,
    "tests/overlay/interpretations/batching/test_programs.py": 3,
    "tests/overlay/interpretations/intervals/test_intervals.py": 5,
    "tests/overlay/interpretations/probabilistic/test_distributions.py": 5,
    "tests/overlay/interpretations/test_gallery.py": 3,
    "tests/overlay/interpretations/test_numba_callees.py": 6,
    "tests/overlay/interpretations/test_own_code.py": 6,
    "tests/overlay/interpretations/test_own_code.py::test_own_code_calls_no_method_of_one": 40,
    "tests/overlay/native/test_safety.py": 7,
    "tests/overlay/plugins/test_ir.py::test_arguments_of_another_kind_or_function_are_refused": 5,
    "tests/overlay/python/test_callable_kinds.py": 10,
    "tests/overlay/python/test_frame_readers.py": 5,
    "tests/overlay/python/test_routes.py": 16,
    "tests/overlay/python/test_tools_beside.py": 9,
    "tests/overlay/sets/test_enclosures.py": 5,
    "tests/overlay/test_chain_of_methods.py": 4,
    "tests/overlay/test_engines_agree.py": 4,
    "tests/primitives/arrays/test_arrays.py::test_compiled_solvers_answer_as_interpreted_ones": 2,
    "tests/primitives/floats/test_vector_maths.py": 3,
    "tests/primitives/test_solver_forms.py::test_compiled_programs_of_integers_never_wrap": 3,
    "tests/strangers/test_dispatch_tables.py": 4,
    "tests/strangers/test_routes_science.py": 5,
    "tests/test_imports.py::test_a_first_import_in_a_context_gives_what_one_outside_gives": 3,
}


FIRST = sys.version_info.minor  # the samples of each version of Python are others

EARLY = (  # they look at all objects of the process, again and again: first, while there are few
    "tests/overlay/interpretations/autodiff/test_escapes.py",
    "tests/overlay/native/",
    "tests/overlay/python/",
    "tests/overlay/contexts/",
    "tests/overlay/interpretations/",
    "tests/overlay/",
)


def _is_left_out(test: str, seen: Counter[str], count: int) -> bool:
    """Whether the quick run has other parameters of a test, or other tests of its file. seen: how
    many of the ``count`` parameters, and of the file's tests that are left, came before."""
    path = test.partition("::")[0]
    every = min(EVERY.get(test) or EVERY.get(path, 1), count)
    seen[test] += 1
    if (seen[test] - 1 - FIRST) % every:
        return True
    seen[path] += path in HALVED
    return path in HALVED and (seen[path] + FIRST) % 2 == 1


def _is_long(test: str) -> bool:
    path, _, name = test.partition("::")
    names = next((LONG[place] for place in LONG if f"{path}/".startswith(f"{place}/")), None)
    return names is not None and (not names or name in names)


@pytest.hookimpl(tryfirst=True)  # before what -m leaves out is left out
def pytest_collection_modifyitems(items):
    """Mark the long tests, and sort the files. Names are the same in each process."""
    names = [item.nodeid.partition("[")[0] for item in items]
    counts, seen = Counter(names), Counter()
    for item, name in zip(items, names, strict=True):
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid}: give the parameters ids without addresses")
        if _is_long(name) or _is_left_out(name, seen, counts[name]):
            item.add_marker(pytest.mark.long)
    sizes = Counter(item.path for item in items)

    def rank(item):
        early = (i for i, place in enumerate(EARLY) if item.nodeid.startswith(place))
        return next(early, len(EARLY)), -sizes[item.path], item.path

    items.sort(key=rank)  # large files first: processes end together


# Collections of garbage, and searches for what refers to an object, walk through all objects: what
# the tests' modules and earlier tests have left, a million objects, is taken out of that.


def pytest_collection_finish():
    with deterministic_PRNG():  # it looks at once for what refers to the generator that it makes
        pass
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """After the last test of a file, exclude the remaining objects from garbage collection."""
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
