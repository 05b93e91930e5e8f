"""Static inspection of dispatch: the method that each call of a program resolves to in a context.

``explain``: ``ctx.explain``, which returns an ``explanation``.
``call_tree``: the call sites and functions in it; ``call_graph``: the code they are read from.
``entries``, ``outcome``: the code that a call enters, and its outcome.
``base_calls``: the outcome of calls to which no method applies.
``shadowing``: the methods of a stack of tables that hide others.
``html``: HTML for explanations, reports, contexts and tables.
"""
