# Print the path of the Python to take, of the versions in the arguments, the preferred one first.
#
#     [PYTHON=/path/to/python] sh scripts/choose_python.sh 3.13 3.12
#
# It has to run: a command on PATH may be a shim that does not. It has to be CPython with its lock,
# with venv and with Python.h. Which one was taken, and why others were not, goes to stderr.
probe=$(dirname "$0")/probe_python.py
passed_over=

# Print "$1" and end, if it fits; otherwise add to $passed_over why it does not.
try() {
    candidate=$1
    shift
    command -v "$candidate" >/dev/null || return 0
    if facts=$("$candidate" "$probe" 2>/dev/null) && [ -n "$facts" ]; then
        path=$(printf '%s\n' "$facts" | sed -n 1p)
        kind=$(printf '%s\n' "$facts" | sed -n 2p)
        lacks=$(printf '%s\n' "$facts" | sed -n 3p)
        why="is $kind"
        for version; do
            case $kind in "CPython $version" | "CPython $version".* | "CPython $version"[a-z]*)
                [ -z "$lacks" ] && taken "$path" "$kind"
                why="is $kind without $lacks"
            esac
        done
    else
        why="does not run"
    fi
    passed_over="$passed_over${passed_over:+; }$candidate $why"
}

taken() {
    echo "Python: $1 ($2)${passed_over:+; passed over: $passed_over}" >&2
    echo "$1"
    exit 0
}

if [ -n "$PYTHON" ]; then
    command -v "$PYTHON" >/dev/null || passed_over="$PYTHON is not there"
    try "$PYTHON" "$@"
else
    pyenv=${PYENV_ROOT:-$HOME/.pyenv}/versions
    uv=${UV_PYTHON_INSTALL_DIR:-$(uv python dir 2>/dev/null)}
    uv=${uv:-${XDG_DATA_HOME:-$HOME/.local/share}/uv/python}
    try python3 "$@"
    for version; do try "python$version" "$@"; done
    # what does not exist is left as a pattern, which is no command
    for version; do for each in "$pyenv/$version"[.-]*/bin/python3; do try "$each" "$@"; done; done
    for version; do for each in "$uv/cpython-$version"[.-]*/bin/python3; do try "$each" "$@"; done; done
fi
echo "no Python fits (wanted: CPython $* with venv and Python.h): ${passed_over:-none was found}." \
    "Install one, as with 'uv python install $1' or 'pyenv install $1'," \
    "or name one: make PYTHON=/path/to/python" >&2
exit 1
