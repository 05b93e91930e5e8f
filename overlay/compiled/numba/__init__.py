"""The adapter of numba: all that knows its internals.

How a function is compiled in a world:

    ``python_entries``     functions that ``Context.jit`` gives, called from Python
    ``guard``              guards, which compare words in front of compiled code
    ``callers``            plain ``@njit`` functions that call an entry
    ``dispatchers``        ``InnerDispatcher``, which compiles one function in one world
    ``interfaces``         parameters, defaults and declared signatures of functions
    ``first_class``        functions told by their signature alone
    ``held_bodies``        ``@overload``, jitclasses, kernels and object-mode blocks
    ``shared_definitions`` what numba keeps of code that serves in several worlds

Types and passes:

    ``numba_types``        types that stand for targets, and what numba knows of a value
    ``numba_typing``       the typing context of a world
    ``pipeline``           the passes of a world
    ``bind_pass``          *Bind*: stand-ins in place of callables, before types are known
    ``folding``            constants that contexts bring
    ``resolve_pass``       *Resolve*: each call goes to what it enters, once types are known
    ``ir_edits``           edits of numba's representation, which keep its types known
    ``exception_chains``   the calls that an exception comes out of

Contexts in compiled code:

    ``context_values``     contexts that are known when code is compiled
    ``context_state``      the state of a context
    ``made_contexts``      contexts and plugins that only the running program knows
    ``joined_contexts``    ``outer | inner`` of these
    ``barrier_calls``      calls in these, through a barrier
    ``variants``           the functions that are compiled for a barrier, and their result type
    ``memory_words``       values as words, by which they are told apart
    ``lookup``             the table of variants by words

Where plugins take part:

    ``stages``             the stages, and their places among the passes
    ``hooks``              the IR that hooks are given, its analysis, and their errors
    ``shown_ir``           ``overlay.ir`` of a function
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
