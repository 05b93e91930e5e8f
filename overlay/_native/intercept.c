/* Targets are intercepted where they are called.
 *
 * While a target is installed, each call of it, whoever makes it, comes to `trampoline`. No stack of
 * contexts in force: it goes on to the target's own code. A stack: the memo of the target gives the
 * implementation for the types of the arguments; where it has none, `resolver(interception, args,
 * kwargs)` in Python does. No Python frame stands between a caller and what is called.
 *
 * An Interception is what is known of one target. It is found by the target's address, holds the
 * target, and is held by the table below while it is installed, and by each call that runs through it.
 */
#include "fields.h"
#include "room.h"
#include <structmember.h>

#define TYPES 4    /* the most arguments for which a memo keeps what they resolve to */
#define ENTRIES 16 /* how many combinations of types it keeps; beyond, the oldest goes */
#define THUNKS 256 /* how many methods of C classes can be targets, in the life of a process */

typedef enum { FUNCTION, C_FUNCTION, METHOD, CLASS, OBJECT } Kind;

static const char *const kind_names[] = {"function", "C function", "method of a C class", "class", "object"};

typedef struct {
    PyObject *key; /* of the stack; held, so that no other object has its address */
    Py_ssize_t count;
    PyTypeObject *types[TYPES];
    PyObject *implementation;
} Entry;

/* What a method of a C class needs for good: bound methods that were made while it was installed
 * point at `definition`, and call the thunk, for as long as they live. */
typedef struct {
    PyObject *descriptor; /* held for good */
    PyObject *untouched;  /* a descriptor of the same method that nobody else knows */
    PyMethodDef *original;
    PyMethodDef definition;
} Thunk;

typedef struct {
    PyObject_HEAD
    PyObject *target;
    PyObject *record; /* the object that Python keeps of the target */
    Kind kind;
    int installed;
    vectorcallfunc original;
    PyMethodDef *original_definition;
    PyMethodDef definition;
    allocfunc original_alloc;
    Thunk *thunk;
    int filled, next;
    Entry memo[ENTRIES];
} Interception;

static PyObject *stack_variable, *key_variable, *resolver;

/* ---- which interception a target has ---------------------------------------------------------- */

static Interception **slots; /* open addressing; a power of two, at most half full */
static size_t capacity, used;

static inline size_t slot_of(PyObject *target) {
    size_t i = ((uintptr_t)target >> 4) * 0x9E3779B97F4A7C15u >> 20;
    for (i &= capacity - 1; slots[i] && slots[i]->target != target; i = (i + 1) & (capacity - 1)) {}
    return i;
}

static inline Interception *found(PyObject *target) {
    return capacity ? slots[slot_of(target)] : NULL;
}

static int add(Interception *it) {
    if (2 * (used + 1) > capacity) {
        size_t old = capacity, larger = capacity ? 2 * capacity : 64;
        Interception **before = slots, **after = PyMem_Calloc(larger, sizeof *after);
        if (!after) {
            PyErr_NoMemory();
            return -1;
        }
        slots = after;
        capacity = larger;
        for (size_t i = 0; i < old; i++) {
            if (before[i]) slots[slot_of(before[i]->target)] = before[i];
        }
        PyMem_Free(before);
    }
    slots[slot_of(it->target)] = (Interception *)Py_NewRef(it);
    used++;
    return 0;
}

/* Take it out, and move those up that stand behind it because of it. */
static void take_out(Interception *it) {
    size_t hole = slot_of(it->target), i = hole;
    slots[hole] = NULL;
    used--;
    for (;;) {
        i = (i + 1) & (capacity - 1);
        Interception *other = slots[i];
        if (!other) break;
        slots[i] = NULL;
        slots[slot_of(other->target)] = other;
    }
    Py_DECREF(it);
}

/* ---- what arguments resolve to ---------------------------------------------------------------- */

static inline PyObject *kept(Interception *it, PyObject *key, PyObject *const *args, Py_ssize_t count) {
    for (int i = 0; i < it->filled; i++) {
        Entry *entry = &it->memo[i];
        if (entry->key != key || entry->count != count) continue;
        Py_ssize_t k = 0;
        while (k < count && entry->types[k] == Py_TYPE(args[k])) k++;
        if (k == count) return entry->implementation;
    }
    return NULL;
}

static void clear_entry(Entry *entry) {
    Entry old = *entry; /* what goes may run code that comes here again */
    memset(entry, 0, sizeof *entry);
    Py_XDECREF(old.key);
    for (Py_ssize_t k = 0; k < old.count; k++) Py_XDECREF(old.types[k]);
    Py_XDECREF(old.implementation);
}

static void forget_all(Interception *it) {
    int filled = it->filled;
    it->filled = it->next = 0;
    for (int i = 0; i < filled; i++) clear_entry(&it->memo[i]);
}

static void keep(Interception *it, PyObject *key, PyObject *const *args, Py_ssize_t count, PyObject *implementation) {
    int place = it->next;
    it->next = (place + 1) % ENTRIES;
    clear_entry(&it->memo[place]);
    Entry *entry = &it->memo[place];
    if (entry->key) return; /* filled meanwhile by what went */
    entry->key = Py_NewRef(key);
    entry->count = count;
    for (Py_ssize_t k = 0; k < count; k++) entry->types[k] = (PyTypeObject *)Py_NewRef(Py_TYPE(args[k]));
    entry->implementation = Py_NewRef(implementation);
    if (it->filled <= place) it->filled = place + 1;
}

/* ---- calls ------------------------------------------------------------------------------------ */

static int as_python(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **tuple, PyObject **dict) {
    Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    *dict = NULL;
    if (!(*tuple = PyTuple_New(count))) return -1;
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(*tuple, i, Py_NewRef(args[i]));
    if (!(*dict = PyDict_New())) goto failed;
    for (Py_ssize_t i = 0; i < named; i++) {
        if (PyDict_SetItem(*dict, PyTuple_GET_ITEM(names, i), args[count + i]) < 0) goto failed;
    }
    return 0;
failed:
    Py_CLEAR(*tuple);
    Py_CLEAR(*dict);
    return -1;
}

/* The target's own code. */
static PyObject *call_native(Interception *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *callee = it->thunk ? it->thunk->untouched : it->target;
    if (it->original) return it->original(callee, args, nargsf, names);
    /* it has no vectorcall of its own: a class, or a C function that takes a tuple */
    PyObject *tuple, *dict;
    if (as_python(args, PyVectorcall_NARGS(nargsf), names, &tuple, &dict) < 0) return NULL;
    PyObject *result = Py_TYPE(callee)->tp_call(callee, tuple, dict);
    Py_DECREF(tuple);
    Py_DECREF(dict);
    return result;
}

/* What `resolver` gives: the implementation and whether the types of the arguments decide it; or,
 * third and fourth, the arguments as it is to be called with. It runs with no stack in force. */
static PyObject *resolved(Interception *it, PyObject *stack, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    PyObject *tuple, *dict, *result = NULL;
    if (as_python(args, count, names, &tuple, &dict) < 0) return NULL;
    PyObject *stack_token = PyContextVar_Set(stack_variable, Py_None);
    PyObject *key_token = stack_token ? PyContextVar_Set(key_variable, Py_None) : NULL;
    if (key_token) {
        PyObject *given[] = {it->record, stack, tuple, dict};
        result = PyObject_Vectorcall(resolver, given, 4, NULL);
    }
    PyObject *error = PyErr_GetRaisedException();
    if ((key_token && PyContextVar_Reset(key_variable, key_token) < 0)
        || (stack_token && PyContextVar_Reset(stack_variable, stack_token) < 0)) {
        Py_CLEAR(result);
    }
    if (error) PyErr_SetRaisedException(error);
    Py_XDECREF(key_token);
    Py_XDECREF(stack_token);
    Py_DECREF(tuple);
    Py_DECREF(dict);
    if (result && (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) != 4)) {
        Py_CLEAR(result);
        PyErr_SetString(PyExc_SystemError, "the resolver of overlay gave no tuple of four");
    }
    return result;
}

static PyObject *dispatch(Interception *it, PyObject *stack, PyObject *const *args, size_t nargsf, PyObject *names) {
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    int simple = count <= TYPES && !(names && PyTuple_GET_SIZE(names));
    PyObject *key = NULL, *result, *implementation;
    if (simple) {
        if (PyContextVar_Get(key_variable, NULL, &key) < 0) return NULL;
        if ((implementation = kept(it, key, args, count))) {
            Py_INCREF(implementation);
            Py_DECREF(key);
            result = implementation == Py_None ? call_native(it, args, nargsf, names)
                                               : PyObject_Vectorcall(implementation, args, nargsf, names);
            Py_DECREF(implementation);
            return result;
        }
    }
    PyObject *answer = resolved(it, stack, args, count, names);
    if (!answer) {
        Py_XDECREF(key);
        return NULL;
    }
    implementation = PyTuple_GET_ITEM(answer, 0);
    if (simple && it->installed && PyTuple_GET_ITEM(answer, 1) == Py_True) keep(it, key, args, count, implementation);
    Py_XDECREF(key);
    PyObject *positional = PyTuple_GET_ITEM(answer, 2);
    if (implementation == Py_None) {
        result = call_native(it, args, nargsf, names);
    } else if (positional == Py_None) {
        result = PyObject_Vectorcall(implementation, args, nargsf, names);
    } else {
        result = PyObject_Call(implementation, positional, PyTuple_GET_ITEM(answer, 3));
    }
    Py_DECREF(answer);
    return result;
}

static inline PyObject *called(Interception *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *stack, *result;
    if (PyContextVar_Get(stack_variable, NULL, &stack) < 0) return NULL;
#if COUNTS_LEVELS
    if (check_room() < 0) {
        Py_DECREF(stack);
        return NULL;
    }
    /* a call through here takes levels that the same call has not without it */
    grant_levels(4);
#endif
    Py_INCREF(it); /* a call may take its target's interception away */
    result = stack == Py_None || !it->installed ? call_native(it, args, nargsf, names)
                                                : dispatch(it, stack, args, nargsf, names);
    Py_DECREF(it);
#if COUNTS_LEVELS
    grant_levels(-4);
#endif
    Py_DECREF(stack);
    return result;
}

static PyObject *trampoline(PyObject *callee, PyObject *const *args, size_t nargsf, PyObject *names) {
    Interception *it = found(callee);
    if (!it) { /* the callee was copied with its slot, which nothing known does */
        PyErr_Format(PyExc_SystemError, "%R is called through overlay and is no target", callee);
        return NULL;
    }
    return called(it, args, nargsf, names);
}

/* ---- methods of C classes: what they are called by is not told the callee ---------------------- */

static Thunk thunks[THUNKS];
static int thunk_count;

static PyObject *call_thunk(int index, PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Thunk *thunk = &thunks[index];
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *few[6], **given = few, *result;
    if (all + 1 > 6 && !(given = PyMem_New(PyObject *, all + 1))) return PyErr_NoMemory();
    given[0] = self;
    if (all) memcpy(given + 1, args, all * sizeof *given);
    Interception *it = found(thunk->descriptor);
    if (it) result = called(it, given, count + 1, names);
    else result = PyObject_Vectorcall(thunk->untouched, given, count + 1, names);
    if (given != few) PyMem_Free(given);
    return result;
}

#define THUNK(n)                                                                                     \
    static PyObject *thunk_##n(PyObject *s, PyObject *const *a, Py_ssize_t c, PyObject *k) {         \
        return call_thunk(0x##n, s, a, c, k);                                                        \
    }
#define EACH(X, h) X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) X(h##8) X(h##9)   \
        X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define ALL(X) EACH(X, 0) EACH(X, 1) EACH(X, 2) EACH(X, 3) EACH(X, 4) EACH(X, 5) EACH(X, 6) EACH(X, 7) \
        EACH(X, 8) EACH(X, 9) EACH(X, a) EACH(X, b) EACH(X, c) EACH(X, d) EACH(X, e) EACH(X, f)
ALL(THUNK)
#define NAME(n) (PyCFunction)(void (*)(void))thunk_##n,
static const PyCFunction thunk_functions[THUNKS] = {ALL(NAME)};

static Thunk *thunk_for(PyObject *target) {
    for (int i = 0; i < thunk_count; i++) {
        if (thunks[i].descriptor == target) return &thunks[i];
    }
    if (thunk_count == THUNKS) {
        PyErr_Format(PyExc_ValueError, "%R is one method of a C class too many: %d can be targets", target, THUNKS);
        return NULL;
    }
    PyMethodDescrObject *descriptor = (PyMethodDescrObject *)target;
    Thunk *thunk = &thunks[thunk_count];
    if (!(thunk->untouched = PyDescr_NewMethod(PyDescr_TYPE(descriptor), descriptor->d_method))) return NULL;
    thunk->descriptor = Py_NewRef(target);
    thunk->original = descriptor->d_method;
    thunk->definition = *descriptor->d_method;
    thunk->definition.ml_meth = thunk_functions[thunk_count++];
    thunk->definition.ml_flags = METH_FASTCALL | METH_KEYWORDS;
    return thunk;
}

/* ---- installing ------------------------------------------------------------------------------- */

static vectorcallfunc *vectorcall_slot(PyObject *target) {
    Py_ssize_t offset = Py_TYPE(target)->tp_vectorcall_offset;
    if (!PyType_HasFeature(Py_TYPE(target), Py_TPFLAGS_HAVE_VECTORCALL) || offset <= 0) return NULL;
    return (vectorcallfunc *)((char *)target + offset);
}

/* Classes of which the interpreter enters __init__ by itself (3.13 and later) have this. */
static PyObject *usual_alloc(PyTypeObject *cls, Py_ssize_t count) { return PyType_GenericAlloc(cls, count); }

static int find_kind(PyObject *target, Kind *kind) {
    const char *why;
    if (PyFunction_Check(target)) *kind = FUNCTION;
    else if (PyCFunction_Check(target)) *kind = C_FUNCTION;
    else if (Py_IS_TYPE(target, &PyMethodDescr_Type)) {
        *kind = METHOD;
        if (((PyMethodDescrObject *)target)->d_method->ml_flags & (METH_METHOD | METH_STATIC | METH_CLASS)) {
            why = "its methods are told their class";
            goto refused;
        }
    } else if (PyType_Check(target)) {
        *kind = CLASS;
        if (!vectorcall_slot(target) || Py_TYPE(target)->tp_call != PyType_Type.tp_call) {
            why = "its metaclass has a __call__ of its own";
            goto refused;
        }
    } else if (vectorcall_slot(target) && !PyMethod_Check(target)) *kind = OBJECT;
    else {
        why = "objects of its class are called by their class alone";
        goto refused;
    }
    return 0;
refused:
    PyErr_Format(PyExc_TypeError, "%R cannot be intercepted: %s", target, why);
    return -1;
}

static int set_special(PyObject *target, int installed) {
    struct callable_cache *cache = special_callables();
    PyObject *names[] = {cache->isinstance, cache->len, cache->list_append};
    PyObject **fields[] = {&cache->isinstance, &cache->len, &cache->list_append};
    static PyObject *hidden[3];
    for (int i = 0; i < 3; i++) {
        if (installed && names[i] == target) {
            hidden[i] = target;
            *fields[i] = NULL;
        } else if (!installed && hidden[i] == target) {
            *fields[i] = target;
            hidden[i] = NULL;
        }
    }
    return 0;
}

static void put_in(Interception *it) {
    PyObject *target = it->target;
    vectorcallfunc *slot = vectorcall_slot(target);
    switch (it->kind) {
    case FUNCTION:
        it->original = ((PyFunctionObject *)target)->vectorcall;
        PyFunction_SetVectorcall((PyFunctionObject *)target, trampoline); /* it is not inlined any more */
        break;
    case C_FUNCTION: {
        PyCFunctionObject *function = (PyCFunctionObject *)target;
        it->original = *slot;
        it->original_definition = function->m_ml;
        if (!(function->m_ml->ml_flags & METH_VARARGS)) {
            /* instructions that know the flags call ml_meth: none knows these. ml_meth stays, since
             * hash and equality are made of it, and so does METH_METHOD, which says how large the
             * object is */
            it->definition = *function->m_ml;
            it->definition.ml_flags &= METH_METHOD | METH_STATIC | METH_CLASS;
            function->m_ml = &it->definition;
        }
        *slot = trampoline;
        break;
    }
    case METHOD: {
        PyMethodDescrObject *descriptor = (PyMethodDescrObject *)target;
        it->original = ((PyMethodDescrObject *)it->thunk->untouched)->vectorcall;
        descriptor->d_method = &it->thunk->definition;
        descriptor->vectorcall = trampoline;
        break;
    }
    case CLASS: {
        PyTypeObject *cls = (PyTypeObject *)target;
        it->original = cls->tp_vectorcall;
        cls->tp_vectorcall = trampoline;
        if (PyType_HasFeature(cls, Py_TPFLAGS_HEAPTYPE)) {
            it->original_alloc = cls->tp_alloc;
            if (cls->tp_alloc == PyType_GenericAlloc) cls->tp_alloc = usual_alloc;
            PyType_Modified(cls);
        }
        break;
    }
    case OBJECT:
        it->original = *slot;
        *slot = trampoline;
        break;
    }
    set_special(target, 1);
    it->installed = 1;
}

static void take_back(Interception *it) {
    PyObject *target = it->target;
    it->installed = 0;
    set_special(target, 0);
    switch (it->kind) {
    case FUNCTION:
        PyFunction_SetVectorcall((PyFunctionObject *)target, it->original);
        break;
    case C_FUNCTION:
        ((PyCFunctionObject *)target)->m_ml = it->original_definition;
        *vectorcall_slot(target) = it->original;
        break;
    case METHOD: {
        PyMethodDescrObject *descriptor = (PyMethodDescrObject *)target;
        descriptor->d_method = it->thunk->original;
        descriptor->vectorcall = it->original;
        break;
    }
    case CLASS: {
        PyTypeObject *cls = (PyTypeObject *)target;
        cls->tp_vectorcall = it->original;
        if (it->original_alloc) {
            cls->tp_alloc = it->original_alloc;
            PyType_Modified(cls);
        }
        break;
    }
    case OBJECT:
        *vectorcall_slot(target) = it->original;
        break;
    }
    forget_all(it);
}

/* ---- Interception, as Python sees it ----------------------------------------------------------- */

static PyTypeObject Interception_Type;

static PyObject *make(PyTypeObject *cls, PyObject *args, PyObject *named) {
    PyObject *target, *record;
    static char *names[] = {"target", "record", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO:Interception", names, &target, &record)) return NULL;
    Kind kind;
    if (find_kind(target, &kind) < 0) return NULL;
    if (found(target)) return PyErr_Format(PyExc_ValueError, "%R is intercepted already", target);
    Thunk *thunk = NULL;
    if (kind == METHOD && !(thunk = thunk_for(target))) return NULL;
    Interception *it = (Interception *)cls->tp_alloc(cls, 0);
    if (!it) return NULL;
    it->target = Py_NewRef(target);
    it->record = Py_NewRef(record);
    it->kind = kind;
    it->thunk = thunk;
    return (PyObject *)it;
}

static PyObject *install(Interception *it, PyObject *nothing) {
    if (it->installed) Py_RETURN_NONE;
    if (found(it->target)) return PyErr_Format(PyExc_ValueError, "%R is intercepted already", it->target);
    if (!resolver) return PyErr_Format(PyExc_RuntimeError, "set_up() has not been called");
    if (add(it) < 0) return NULL;
    put_in(it);
    Py_RETURN_NONE;
}

static PyObject *remove_it(Interception *it, PyObject *nothing) {
    if (it->installed) {
        take_back(it);
        take_out(it);
    }
    Py_RETURN_NONE;
}

static PyObject *forget(Interception *it, PyObject *nothing) {
    forget_all(it);
    Py_RETURN_NONE;
}

/* Calling an Interception calls the target's own code, whatever stack is in force. */
static PyObject *call_below(PyObject *self, PyObject *args, PyObject *named) {
    Interception *it = (Interception *)self;
    if (!it->installed) return PyObject_Call(it->target, args, named);
    Py_ssize_t count = PyTuple_GET_SIZE(args), more = named ? PyDict_GET_SIZE(named) : 0, at = 0, i = count;
    PyObject *names = more ? PyTuple_New(more) : NULL, *name, *value, *result;
    PyObject **given = PyMem_New(PyObject *, count + more + 1);
    if (!given || (more && !names)) {
        Py_XDECREF(names);
        PyMem_Free(given);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t k = 0; k < count; k++) given[k] = PyTuple_GET_ITEM(args, k);
    while (named && PyDict_Next(named, &at, &name, &value)) {
        PyTuple_SET_ITEM(names, i - count, Py_NewRef(name));
        given[i++] = value;
    }
    Py_INCREF(it);
    result = call_native(it, given, count, names);
    Py_DECREF(it);
    Py_XDECREF(names);
    PyMem_Free(given);
    return result;
}

static int traverse(Interception *it, visitproc visit, void *arg) {
    Py_VISIT(it->target);
    Py_VISIT(it->record);
    for (int i = 0; i < it->filled; i++) {
        Py_VISIT(it->memo[i].key);
        for (Py_ssize_t k = 0; k < it->memo[i].count; k++) Py_VISIT(it->memo[i].types[k]);
        Py_VISIT(it->memo[i].implementation);
    }
    return 0;
}

static int clear(Interception *it) {
    /* installed, it is held by the table and never garbage: what is cleared here is not called */
    forget_all(it);
    Py_CLEAR(it->record);
    return 0;
}

static void dealloc(Interception *it) {
    PyObject_GC_UnTrack(it);
    clear(it);
    Py_CLEAR(it->target);
    Py_TYPE(it)->tp_free(it);
}

static PyObject *get_kind(Interception *it, void *closure) { return PyUnicode_FromString(kind_names[it->kind]); }
static PyObject *get_installed(Interception *it, void *closure) { return PyBool_FromLong(it->installed); }
static PyObject *get_kept(Interception *it, void *closure) { return PyLong_FromLong(it->filled); }

static PyMethodDef interception_methods[] = {
    {"install", (PyCFunction)install, METH_NOARGS, "Have each call of the target come here."},
    {"remove", (PyCFunction)remove_it, METH_NOARGS, "Have calls of the target go to its own code."},
    {"forget", (PyCFunction)forget, METH_NOARGS, "Resolve anew from the next call on."},
    {NULL},
};
static PyMemberDef interception_members[] = {
    {"target", T_OBJECT_EX, offsetof(Interception, target), READONLY, "The target."},
    {"record", T_OBJECT_EX, offsetof(Interception, record), READONLY, "What the resolver is given."},
    {NULL},
};
static PyGetSetDef interception_getset[] = {
    {"kind", (getter)get_kind, NULL, "What the target is to the interpreter.", NULL},
    {"installed", (getter)get_installed, NULL, "Whether calls come here.", NULL},
    {"kept", (getter)get_kept, NULL, "How many combinations of types are kept.", NULL},
    {NULL},
};
static PyTypeObject Interception_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Interception",
    .tp_doc = "Interception(target, record): what is known of a target. Calling it calls the target's own code.",
    .tp_basicsize = sizeof(Interception),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = make,
    .tp_call = call_below,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
    .tp_dealloc = (destructor)dealloc,
    .tp_methods = interception_methods,
    .tp_members = interception_members,
    .tp_getset = interception_getset,
};

/* ---- the module ------------------------------------------------------------------------------- */

static PyObject *set_up(PyObject *module, PyObject *args) {
    PyObject *stack, *key, *function;
    if (!PyArg_ParseTuple(args, "O!O!O:set_up", &PyContextVar_Type, &stack, &PyContextVar_Type, &key, &function)) return NULL;
    /* read only, before anything is ever written there */
    struct callable_cache *cache = special_callables();
    PyObject *builtins = PyEval_GetBuiltins(), *len = PyDict_GetItemString(builtins, "len");
    PyObject *isinstance = PyDict_GetItemString(builtins, "isinstance");
    if (used == 0 && (!len || cache->len != len || cache->isinstance != isinstance)) {
        PyErr_SetString(PyExc_ImportError, "the fields of this CPython are not where they are expected");
        return NULL;
    }
    Py_XSETREF(stack_variable, Py_NewRef(stack));
    Py_XSETREF(key_variable, Py_NewRef(key));
    Py_XSETREF(resolver, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyObject *interception_of(PyObject *module, PyObject *target) {
    Interception *it = found(target);
    return Py_NewRef(it ? (PyObject *)it : Py_None);
}

static PyObject *installed(PyObject *module, PyObject *nothing) { return PyLong_FromSize_t(used); }

static PyMethodDef methods[] = {
    {"set_up", set_up, METH_VARARGS, "set_up(stack, key, resolver): the context variables, and what resolves calls."},
    {"interception_of", interception_of, METH_O, "The Interception of a target that is installed, or None."},
    {"installed", installed, METH_NOARGS, "How many targets are installed."},
    {NULL},
};

static int execute(PyObject *module) {
    if (PyType_Ready(&Interception_Type) < 0) return -1;
    return PyModule_AddObjectRef(module, "Interception", (PyObject *)&Interception_Type);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
    {0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "intercept",
    .m_doc = "Targets are intercepted where they are called.",
    .m_methods = methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_intercept(void) { return PyModuleDef_Init(&module); }
