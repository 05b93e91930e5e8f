/* Fields of CPython that no public function reads or writes, each with the versions for which
 * its use is valid. No other file here includes an internal header of the interpreter. */
#ifndef OVERLAY_FIELDS_H
#define OVERLAY_FIELDS_H

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <internal/pycore_interp.h>
#if PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_runtime.h>
#endif
#include <internal/pycore_frame.h>
#include <internal/pycore_instruments.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#include <internal/pycore_stackref.h>
#endif

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x03100000
#error "the fields of this CPython are not known: 3.12 to 3.15 are"
#endif
#ifdef Py_GIL_DISABLED
#error "free-threaded builds are not supported"
#endif

/* 3.12 to 3.15: functions that instructions recognize by identity and call without their
 * vectorcall. */
static inline struct callable_cache *special_callables(void) {
    return &PyInterpreterState_Get()->callable_cache;
}

/* 3.12 to 3.15, for a class that is made at run time: weak references to its subclasses by their
 * addresses, in a dict; NULL before there is one. */
static inline PyObject **subclasses_of(PyTypeObject *cls) { return (PyObject **)&cls->tp_subclasses; }

/* 3.14: instructions enter getters of properties after a check of the class's version. */
#define ENTERS_GETTERS (PY_VERSION_HEX >= 0x030e0000 && PY_VERSION_HEX < 0x030f0000)

/* 3.14: the number of versions that a class has had; beyond a thousand the class and its
 * subclasses get none. A large number is added to the count, so that it can be restored. */
static inline void set_versions_used(PyTypeObject *cls, int all) {
#if ENTERS_GETTERS
    const uint16_t beyond = 0x8000;
    if (all) cls->tp_versions_used |= beyond;
    else cls->tp_versions_used &= ~beyond;
#endif
}

/* 3.12 to 3.15: the frame of the calling Python code. */
static inline struct _PyInterpreterFrame *current_frame(void) {
#if PY_VERSION_HEX < 0x030d0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

#if PY_VERSION_HEX < 0x030d0000
    return PyThreadState_Get()->cframe->current_frame;
#else
    return PyThreadState_Get()->current_frame;
#endif
}

/* 3.12 to 3.15: the code of a frame, borrowed; for some frames it is another object. */
static inline PyObject *code_of(struct _PyInterpreterFrame *frame) {
#if PY_VERSION_HEX >= 0x030e0000
    return PyStackRef_AsPyObjectBorrow(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030d0000
    return frame->f_executable;
#else
    return (PyObject *)frame->f_code;
#endif
}

/* 3.12 to 3.15: whether code has instructions that send events to tools. From 3.13 on the interpreter
 * enters __init__ from a frame whose code has none, and lacks fields that other code has. */
static inline int has_traceable(PyObject *code) {
    return ((PyCodeObject *)code)->_co_firsttraceable < Py_SIZE(code);
}

/* The stack of a frame before an instruction. `depth` is computed from the code: 3.12 and 3.13
 * keep the pointer to the end of the stack in a register meanwhile. */
#if PY_VERSION_HEX >= 0x030e0000
typedef _PyStackRef *StackEnd;
static inline StackEnd stack_end(struct _PyInterpreterFrame *frame, PyCodeObject *code, int depth) {
    return frame->stackpointer;
}
/* Borrowed; NULL where the slot is empty. */
static inline PyObject *on_stack(StackEnd end, int from_end) {
    return PyStackRef_IsNull(end[-from_end]) ? NULL : PyStackRef_AsPyObjectBorrow(end[-from_end]);
}
/* Store a new reference, or NULL, in a slot, and return the reference that was there. */
static inline PyObject *exchange_on_stack(StackEnd end, int from_end, PyObject *value) {
    _PyStackRef held = end[-from_end]; /* AsPyObjectSteal makes a new reference of a borrowed one */
    PyObject *before = PyStackRef_IsNull(held) ? NULL : PyStackRef_AsPyObjectSteal(held);
    end[-from_end] = value ? PyStackRef_FromPyObjectSteal(value) : PyStackRef_NULL;
    return before;
}
#else
typedef PyObject **StackEnd;
static inline StackEnd stack_end(struct _PyInterpreterFrame *frame, PyCodeObject *code, int depth) {
    return frame->localsplus + code->co_nlocalsplus + depth;
}
static inline PyObject *on_stack(StackEnd end, int from_end) { return end[-from_end]; }
static inline PyObject *exchange_on_stack(StackEnd end, int from_end, PyObject *value) {
    PyObject *before = end[-from_end];
    end[-from_end] = value;
    return before;
}
#endif

/* 3.12 to 3.15: the tools that get events for each instruction of a code object. With one tool
 * the interpreter keeps no list; with the second it starts an empty one, and the first gets no
 * more events. So that neither loses events, the list is started here. 0, or -1 with an error. */
static inline int keep_tools(PyCodeObject *code) {
    _PyCoMonitoringData *told = code->_co_monitoring;
    if (!told || !told->per_instruction_opcodes || told->per_instruction_tools) return 0;
    uint8_t *tools = PyMem_Malloc(Py_SIZE(code));
    if (!tools) {
        PyErr_NoMemory();
        return -1;
    }
    memset(tools, told->active_monitors.tools[PY_MONITORING_EVENT_INSTRUCTION], Py_SIZE(code));
    told->per_instruction_tools = tools; /* freed with the code */
    return 0;
}

/* 3.12 to 3.15: while a callback of sys.monitoring runs (tracing is not 0), there are no events.
 * Set it, or leave it unchanged for -1; return its former value. */
static inline int see_events(int tracing) {
    PyThreadState *thread = PyThreadState_Get();
    int before = thread->tracing;
    if (tracing >= 0) thread->tracing = tracing;
    return before;
}

/* 3.12 to 3.15: import statements call `builtins.__import__`, unless it is this object: then
 * they import natively. Imports from a package use this object, too. */
static inline PyObject **usual_import(void) { return &PyInterpreterState_Get()->imports.import_func; }

/* 3.12: of the two slots for a callee and its receiver, the empty one is first; later last. */
#define EMPTY_FIRST (PY_VERSION_HEX < 0x030d0000)

#if PY_VERSION_HEX < 0x030e0000
/* 3.12 and 3.13 count levels of C calls, regardless of the room on the stack. */
static inline void grant_levels(int levels) {
    PyThreadState_Get()->c_recursion_remaining += levels;
}
#define COUNTS_LEVELS 1
#else
#define COUNTS_LEVELS 0 /* 3.14 and 3.15 measure the stack themselves */
#endif

/* Whether the fields of threads are at the offsets for which this was compiled. From 3.13 on the
 * interpreter publishes the offsets, for debuggers; in 3.12 and 3.13 the number of levels left
 * has to be within its limits. */
static inline int fields_are_known(void) {
#if PY_VERSION_HEX >= 0x030d0000
    if (_PyRuntime.debug_offsets.thread_state.current_frame != offsetof(PyThreadState, current_frame)) return 0;
    if (_PyRuntime.debug_offsets.thread_state.size != sizeof(PyThreadState)) return 0;
#endif
#if COUNTS_LEVELS
#ifdef C_RECURSION_LIMIT /* 3.12 */
    const int most = C_RECURSION_LIMIT;
#else
    const int most = Py_C_RECURSION_LIMIT;
#endif
    int left = PyThreadState_Get()->c_recursion_remaining;
    if (left <= 0 || left > most) return 0;
#endif
    return 1;
}

#endif
