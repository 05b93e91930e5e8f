"""The source of an inverse as a standalone module.

module: the whole module. writing_out: functions, classes and values as source. reading_back: the
original source of a function. long_lines: lines that are wrapped.
"""
