"""From a plan to the Python source of an inverse.

entry_code: the functions that are called from outside. module_text: rows, names and steps of the
generated module. branch_code, loop_code, elementwise_code, moved_code, system_code: each kind of
statement as functions. row_code: the loop over rows. definition: all that an inverse is made of.
compiled_form: what compiled code calls. raising: functions that raise as in Python, compiled.
"""
