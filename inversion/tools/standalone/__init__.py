"""The source of an inverse as a module that runs by itself.

module: the whole of it. writing_out: functions, classes and values as source. reading_back: the
source of a function, as it was written.
"""
