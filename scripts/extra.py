"""Prints the requirements of an extra of the project, one a line."""

import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    extras = tomllib.load(file)["project"]["optional-dependencies"]
print("\n".join(extras[sys.argv[1]]))
