"""The part in C, which may be left out. All else of the distribution stands in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "overlay._native.intercept",
            ["overlay/_native/intercept.c"],
            depends=glob("overlay/_native/*.h"),
            extra_compile_args=["-pthread"],
            extra_link_args=["-pthread"],
            optional=True,  # without it there is no ctx(f)
        )
    ]
)
