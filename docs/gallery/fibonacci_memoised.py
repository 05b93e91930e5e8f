"""Memoise an unmodified recursive function.

Kind: replaced calls
Shows: the memo answers recursive calls
Tests: tests/overlay/interpretations/test_memoisation.py:
 test_a_function_runs_once_for_each_argument
"""

from overlay.interpretations.memoisation import memoised


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


memo = memoised(fib)
print("fib(80) is", memo(fib, 80))
print(memo.misses, "calls ran,", memo.hits, "were answered from the memo")
