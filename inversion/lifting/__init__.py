"""From a function to a program: its code is gone through, its calls are resolved.

inputs: the inputs as declared. lifter: the whole of it. function_code: blocks of code, and the
loops and joins of the ways between them. execution_paths: the blocks in order; exits: where paths
lead; joining: both paths of a fork; iterations, repeating: loops; recursion, self_calls: functions
that call themselves. lifted_statements: single statements.
resolve: what a call means; known_calls, array_calls, array_methods, elements, sequence_calls,
lifted_slopes: each kind of call. lifted_values: what names stand for.
"""
