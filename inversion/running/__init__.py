"""Running inverses: on one result, on rows of results, and in other processes.

generated_functions: interpreted and compiled. rows: a batch; columns: its numbers; quick: many rows
at once, by threads; lockstep: by numpy; dask_arrays: chunks of them. array_kernels: loops over
elements. meter: when to compile. progress: the progress of a batch or search. sending: inverses in
other processes.
"""
