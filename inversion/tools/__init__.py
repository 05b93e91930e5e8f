"""Tools for inverses: inspection, checks and export.

readable: the public attributes of an inverse, and its interface for searches. explaining: errors
for missing answers. formulas: steps as text; drawings: programs and plans as HTML; layers: the
layout of drawings; renderers: registration of renderers by type. standalone: export as a standalone
module.
"""
