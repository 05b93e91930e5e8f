/* The fields of CPython that no public function reads or writes, each with the versions that its use
 * holds for. Nothing else here includes a header of the interpreter's own. */
#ifndef OVERLAY_FIELDS_H
#define OVERLAY_FIELDS_H

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <internal/pycore_interp.h>

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x03100000
#error "the fields of this CPython are not known: 3.12 to 3.15 are"
#endif
#ifdef Py_GIL_DISABLED
#error "free-threaded builds are not supported"
#endif

/* 3.12 to 3.15: functions that instructions call without asking for their vectorcall, by identity. */
static inline struct callable_cache *special_callables(void) {
    return &PyInterpreterState_Get()->callable_cache;
}

#if PY_VERSION_HEX < 0x030e0000
/* 3.12 and 3.13 count levels of C calls, whatever room the stack has. */
static inline void grant_levels(int levels) {
    PyThreadState_Get()->c_recursion_remaining += levels;
}
#define COUNTS_LEVELS 1
#else
#define COUNTS_LEVELS 0 /* 3.14 and 3.15 measure the stack themselves */
#endif

#endif
