# Print the C compiler that extensions are built with, or fail: $CC, one on PATH, or that of ziglang,
# which scripts/prepare.sh installs into the environment $VENV where there is no other.
for compiler in "$CC" cc gcc clang "$VENV/bin/zig-cc"; do
    # $CC may have options; a compiler may be there but not run, as without macOS's developer tools
    # shellcheck disable=SC2086
    if [ -n "$compiler" ] && $compiler --version >/dev/null 2>&1; then
        echo "$compiler"
        exit 0
    fi
done
exit 1
