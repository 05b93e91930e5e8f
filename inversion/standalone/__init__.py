"""The source of an inverse as a module that runs by itself."""

from inversion.standalone.module import standalone

__all__ = ["standalone"]
