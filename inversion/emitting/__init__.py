"""From a plan to the Python source of an inverse.

entry_code: the public functions. module_text: rows, names and steps of the generated module.
branch_code, loop_code, elementwise_code, moved_code, system_code: each kind of statement as
functions. row_code: the loop over rows. definition: all that defines an inverse. compiled_form: the
entry points for compiled code. raising: functions that raise as in Python, compiled.
"""
