"""Reverse-mode derivatives: the adjoint of a program, as Python source generated from its
statements.

``adjoint_names``: variables of a program that is being lifted, and names in generated source.
``adjoints``: adjoints of functions, generated on first use and cached.
``backwards``: the backward pass of an adjoint: lines that accumulate adjoints in reverse order.
``branching``: lifting of branches, and of the variables after them.
``by_rules``: lifting of calls of functions of whole arrays, by their rules.
``calling``: lifting of calls: each is resolved to a function that has an adjoint, or a Python
function is inlined.
``compiled_forms``: forms of functions of numpy in adjoints that are compiled.
``compiled_pullback``: generation of the source of an adjoint.
``complex_pullbacks``: pullbacks of functions of complex numbers.
``defining``: functions defined by generated source.
``forwards``: the forward pass of an adjoint: lines that run the program, and store values for the
backward pass.
``gradients``: reverse-mode derivatives of calls: selection of the mode, and calls of adjoints.
``inner_derivatives``: derivatives that a program takes of its own functions.
``instances``: instances of Python classes that the program makes: attributes, methods, operators.
``iterating``: lifting of iteration, and of functions of iterables: ranges, zip, list, sum.
``kernel_calls``: lifting of what numba-cuda itself defines: indices of threads, barriers, atomic
sums.
``known_arrays``: arrays that numpy makes of known arguments, and arrays of rows.
``lifted_bodies``: lifting of a Python function to a program for its adjoint: calls are resolved,
helpers inlined, and each variable is set once.
``looping``: lifting of loops.
``made_objects``: lists, dicts and tuples that the program makes: their contents, items and
methods.
``needs``: analysis of an adjoint: the statements to recompute, and the values to store.
``operands``: operands of lifted programs: their kinds, and the memory they share.
``overlaying``: lifting of calls with method tables in force: the methods that they resolve to are
inlined.
``pullbacks``: pullbacks of functions: for each call the kind of its result, and the propagation
of its adjoint to the arguments.
``rearranging``: pullbacks of functions that rearrange, repeat or sum the elements of arrays.
``reverse_program``: programs for adjoints: assignments, branches and loops, in which each
variable is set once.
``running``: functions that the source of adjoints calls, and functions that are lifted instead of
others.
``sampled_kinds``: kinds of results, found by calls with arrays of several sizes.
``source_text``: source of adjoints: operands, and templates of pullbacks that are filled in.
``structural``: lifting of calls other than functions of numbers: attributes, items, tests of
identity.
``structure``: code for adjoints: a function as a structured tree.
``taped``: derivatives by a tape, for programs for which no adjoint is generated.
``users_rules``: the user's rules: adjoints, with residuals, and partial derivatives.
"""
