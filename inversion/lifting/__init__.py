"""Lifting of a function to a program, by abstract execution of its code.

inputs: the declared inputs. lifter: the entry point. function_code: basic blocks, loops and joins
of the control flow. execution_paths: execution block by block; exits: ends of paths; joining: the
join of two paths; iterations, repeating: loops; recursion, self_calls: recursive functions.
lifted_statements: single statements.

heap: objects that the function makes; made_calls: calls with these, and with inner functions;
class_instances, container_calls, iterable_calls, lookups: the kinds of such objects.

resolve: resolution of calls; interpreted_calls: calls that enter a context, of derivatives and of
inverses; known_calls, array_calls, array_methods, elements, sequence_calls, lifted_slopes: the
kinds of calls. array_maps: linear functions of arrays; array_reductions: reductions along axes;
array_definitions: functions defined by others. array_objects, array_writes: arrays that are written
to, and their views. lifted_values: values of names.

mixed_numbers: numbers whose Python type depends on the path. number_functions: functions of
numbers; text_calls, text_functions: functions of strings and bytes. integer_ranges: bounds of
integers that follow from others.
"""
