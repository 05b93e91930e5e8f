"""Remove the prints from a program.

Kind: replaced calls
Shows: code that only the prints need is removed too
Tests: tests/overlay/interpretations/test_printing.py:
 test_prints_go_with_what_only_they_need
"""

from overlay.interpretations.printing import Slicer


def mean(xs):
    total = 0.0
    for i, x in enumerate(xs):
        share = f"{100 * i / len(xs):.0f} %"
        print("done:", share)
        total += x
    return total / len(xs)


slicer = Slicer()
print(slicer.source(mean))
print("it gives", slicer(mean, [1.0, 2.0]))
