"""The adapter to numba: the only code that knows its internals.

Compilation of a function in a world:

    ``python_entries``     functions from ``Context.jit``, called from Python
    ``guard``              guards, which compare words before compiled code runs
    ``callers``            plain ``@njit`` functions that call an entry
    ``dispatchers``        ``InnerDispatcher``, which compiles one function in one world
    ``interfaces``         parameters, defaults and declared signatures of functions
    ``first_class``        functions of which only the signature is known
    ``chosen_functions``   functions chosen at run time among known candidates
    ``held_containers``    containers of functions that the program holds, where code names them
    ``container_values``   these as values: their types, and the functions that read them
    ``held_bodies``        ``@overload``, jitclasses, kernels and object-mode blocks
    ``array_operators``    operators of arrays, which are calls of numpy's ufuncs
    ``code_lifetime``      the lifetime of code that numba holds: shared definitions, deferred
                           machine code, and the release of code that is gone

Types and passes:

    ``numba_types``        types that represent targets, and numba's knowledge of a value
    ``number_values``      numbers of interpretations, which plain numbers become
    ``numba_typing``       the typing context of a world
    ``pipeline``           the passes of a world
    ``bind_pass``          *Bind*: stand-ins replace callables, before types are known
    ``folding``            constants that come from contexts
    ``resolve_pass``       *Resolve*: resolutions replace calls, once types are known
    ``ir_edits``           edits of numba's IR, which keep its types known
    ``exception_chains``   the calls that an exception leaves: numba's calling convention, and
                           locations of code that is inlined
    ``parallel_errors``    exceptions in the threads of a parallel loop
    ``traced_passes``      the passes that lower and inline with these

Contexts in compiled code:

    ``context_values``     contexts that are known at compile time
    ``context_state``      the state of a context
    ``made_contexts``      contexts and plugins that are known only at run time
    ``joined_contexts``    ``outer | inner`` of these
    ``barrier_calls``      calls in these, through a barrier
    ``variants``           the functions that are compiled for a barrier, and their result type
    ``memory_words``       values as words, by which they are compared
    ``lookup``             the table of variants by words

Stages of plugins:

    ``stages``             the stages, and their places among the passes
    ``hooks``              the IR that hooks are given, its analysis, and their errors
    ``shown_ir``           ``overlay.ir`` of a function
    ``shown_flow``         its blocks, statements, branches and stores
    ``inserted_calls``     calls that plugins put into a function
    ``hints``              Python types as numba's, and numba's as Python's
    ``control_flow``       blocks and branches, as analyses see them
    ``inferring``          the stage ``infer``
    ``inlining``           the stage ``inline``
    ``lowering``           the stages of LLVM
    ``marked_calls``       calls of markers

Code on disk:

    ``object_code``        compiled code as bytes
    ``fingerprint_kinds``  fingerprints of numba's objects, and of the surroundings of code
"""
