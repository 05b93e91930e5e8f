"""Inverses to look at, to check, and to write out.

readable: what is read off an inverse, and what a search asks of one. explaining: why there is no
answer. formulas: steps as text; drawings: programs and plans as HTML; layers: where the nodes of
a drawing stand; renderers: which of these shows what. standalone: a module that runs by itself.
"""
