"""Inverses that run: on one result, on rows of them, and in other processes.

generated_functions: interpreted and compiled. rows: a batch; columns: its numbers; quick: many
rows at once, by threads; dask_arrays: chunks of them. array_kernels: loops over elements.
progress: how far a batch or search has come. sending: inverses in other processes.
"""
