/* The room left on the stack of a thread, where the interpreter does not measure it itself. */
#ifndef OVERLAY_ROOM_H
#define OVERLAY_ROOM_H

#include "fields.h"

#if COUNTS_LEVELS
#include <pthread.h>
#include <stdint.h>

/* Stack space for one interpreted call, with all its calls in C until the next trampoline, and
 * for raising the error. */
#define RESERVE (96 * 1024)

static _Thread_local uintptr_t lowest; /* the last address of this thread's stack; 0: not known yet */

static inline uintptr_t find_lowest(void) {
#if defined(__linux__)
    pthread_attr_t attributes;
    void *address = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &address, &size);
        pthread_attr_destroy(&attributes);
    }
    return (uintptr_t)address;
#elif defined(__APPLE__)
    return (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - pthread_get_stacksize_np(pthread_self());
#else
    return 0;
#endif
}

/* 0, or -1 with RecursionError set. */
static inline int check_room(void) {
    char here;
    if (lowest == 0 && (lowest = find_lowest()) == 0) {
        PyErr_SetString(PyExc_RecursionError, "the stack of this thread cannot be measured");
        return -1;
    }
    if ((uintptr_t)&here < lowest + RESERVE) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the stack of this "
                                              "thread is used up");
        return -1;
    }
    return 0;
}
#endif

#endif
