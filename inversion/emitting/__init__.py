"""From a plan to the Python source of an inverse.

entry_code: the public functions. module_text: lines, names and steps of the generated module.
branch_code, loop_code, elementwise_code, moved_code, system_code: each kind of statement as
functions. row_code: the loop over rows. definition: the parts that define an inverse.
compiled_form: the entry points for compiled code. raising: functions that raise in compiled code as
in Python.
"""
