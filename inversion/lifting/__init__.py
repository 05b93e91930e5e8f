"""Lifting of a function to a program, by abstract execution of its code; calls are resolved.

inputs: the declared inputs. lifter: the entry point. function_code: basic blocks, loops and joins
of the control flow. execution_paths: execution block by block; exits: ends of paths; joining: both
paths of a fork; iterations, repeating: loops; recursion, self_calls: functions that call
themselves. lifted_statements: single statements.
heap: objects that the function makes; made_calls: calls with these, and with inner functions;
class_instances, container_calls, iterable_calls, lookups: their kinds.
resolve: resolution of calls; interpreted_calls: calls that enter a context, of derivatives and of
inverses; known_calls, array_calls, array_methods, elements, sequence_calls,
lifted_slopes: the kinds of calls. array_maps: functions that are linear; array_reductions: those of
rows; array_definitions: those that others define. array_objects, array_writes: arrays that are
written to, and their views. lifted_values: values of names.
mixed_numbers: numbers whose Python type varies.
number_functions: functions of numbers; text_calls, text_functions: those of strings and bytes.
integer_ranges: bounds of integers that follow from others.
"""
