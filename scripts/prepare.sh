# Make the environment $VENV with what pyproject.toml asks for, as $CONSTRAINTS pins it. Its Python is
# $PYTHON, or the first that is there of the versions in the arguments. What fits already stays.
here=$(dirname "$0")
export VENV

# The whole version of the Python "$1", if it fits one of the versions after it.
version_of() {
    given=$1
    shift
    path=$(PYTHON=$given sh "$here/choose_python.sh" "$@" 2>/dev/null) \
        && "$path" -c 'import platform; print(platform.python_version())'
}

# $VENV was finished once, runs (what it was made by may be gone), and is of a version asked for.
fits() {
    [ -e "$VENV/ready" ] && found=$(version_of "$VENV/bin/python" "$@") || return 1
    [ -z "$PYTHON" ] || [ "$found" = "$(version_of "$PYTHON" "$@")" ]
}

install() {
    quietly=-qq
    [ ! -t 1 ] || quietly= # pip shows its progress
    "$VENV/bin/python" -m pip install $quietly --disable-pip-version-check -c "$CONSTRAINTS" -e "$@"
}

# The compiler of ziglang, as a command: some builds take the first word of CC for all of it.
install_compiler() {
    echo "no C compiler on PATH: installing that of ziglang into $VENV"
    install '.[compiler]' || return 1
    printf '#!/bin/sh\nexec "%s" -m ziglang cc "$@"\n' "$(cd "$VENV" && pwd)/bin/python" >"$VENV/bin/zig-cc"
    chmod +x "$VENV/bin/zig-cc"
}

if ! fits "$@"; then
    python=$(sh "$here/choose_python.sh" "$@") || exit 1
    [ ! -e "$VENV" ] || echo "$VENV is unfinished, does not run or is of another Python: made anew"
    rm -rf "$VENV"
    echo "making $VENV: hundreds of MB are downloaded and installed, which takes one to several minutes"
    "$python" -m venv "$VENV" || exit 1
    stale=all
else
    stale=$(find pyproject.toml setup.py overlay/_native/*.[ch] "$CONSTRAINTS" -newer "$VENV/ready")
fi
# before what is to be compiled
CC=$(sh "$here/compiler.sh") || {
    install_compiler \
        || echo "left out: what needs a C compiler, since ziglang cannot be installed; CC=/path/to/cc names one"
    CC=$(sh "$here/compiler.sh") && stale=${stale:-compiler}
}
export CC
if [ -n "$stale" ]; then
    rm -f "$VENV/ready" # an environment without it is made anew: here one may be interrupted
    install '.[dev,demo,bench]' || exit 1
    touch "$VENV/ready"
fi
