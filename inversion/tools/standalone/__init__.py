"""The source of an inverse as a standalone module.

module: the whole module. writing_out: functions, classes and values as source. reading_back: the
original source of a function. wrapping: lines that are too long.
"""
