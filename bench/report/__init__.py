"""Builds docs/report.md: ``python -m report`` in the folder of the benchmarks."""
