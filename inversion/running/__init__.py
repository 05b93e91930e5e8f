"""Inverses that run: on one result, on rows of results, and in other processes.

generated_functions: interpreted and compiled functions. rows: batches; columns: the numbers of a
batch; quick: many rows at once, in threads; lockstep: rows as numpy operations; dask_arrays: rows
in chunks. array_kernels: loops over elements. meter: when to compile. progress: the progress of a
batch or search. sending: inverses in other processes.
"""
