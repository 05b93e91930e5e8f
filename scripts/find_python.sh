# Print the path of a Python of the version asked for (such as 3.12), or fail.
# A command on PATH may be a shim that does not run, so each candidate is asked for its version.
for candidate in "python$1" "$HOME/.pyenv/versions/$1".*/bin/python3; do
    "$candidate" -c "import sys; '%d.%d' % sys.version_info[:2] == '$1' or sys.exit(1)" 2>/dev/null || continue
    command -v "$candidate"
    exit 0
done
exit 1
