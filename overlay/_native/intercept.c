/* Interception of calls of targets.
 *
 * While a target is installed, each call of it, from any caller, enters `trampoline`. Without a
 * stack of contexts in force, it calls the target's own code. In a stack, the target's memo
 * gives the implementation for the argument types; on a miss, `resolver(interception, args,
 * kwargs)` in Python does. No Python frame is between a caller and the implementation.
 *
 * An Interception is the record of one target. It is found by the target's address and holds the
 * target. The table below holds it while it is installed, and so does each call that runs
 * through it.
 */
#include "fields.h"
#include "room.h"
#include <structmember.h>
#include <unistd.h>

#define TYPES 4    /* limit on the arguments of calls whose resolutions are cached */
#define ENTRIES 16 /* limit on the cached combinations of types; beyond, the oldest goes */
#define THUNKS 256 /* limit on methods of C classes that become targets in the life of a process */

typedef enum { FUNCTION, C_FUNCTION, METHOD, SLOT, CLASS, OBJECT, CALLED, RECEIVER } Kind;

static const char *const kind_names[] = {
    "function", "C function", "method of a C class", "slot wrapper", "class",
    "object", "object called by its class", "object called by a function of its class",
};

typedef struct {
    PyObject *key; /* of the stack; held, so that no other object has its address */
    Py_ssize_t count;
    PyTypeObject *types[TYPES];
    PyObject *implementation;
} Entry;

typedef struct {
    int filled, next;
    Entry entries[ENTRIES];
    unsigned long forgotten; /* number of times that all entries were dropped */
} Memo;

/* Data of a method of a C class, which is never freed: bound methods that were made while it was
 * installed point at `definition`, and call the thunk, for as long as they live. */
typedef struct {
    PyObject *descriptor; /* held for the life of the process */
    PyObject *untouched;  /* a descriptor of the same method that is known only here */
    PyMethodDef *original;
    PyMethodDef native;     /* copy of the original definition; `untouched` uses it */
    PyMethodDef definition; /* the descriptor's while it is installed */
    PyObject *doc;          /* of the definition */
} Thunk;

typedef struct Interception {
    PyObject_HEAD
    PyObject *target; /* first: the key of the table */
    PyObject *record; /* the record that Python keeps of the target */
    Kind kind;
    int installed; /* calls enter the trampoline */
    int wanted;    /* it is a target; 0 where it is installed for its receivers alone */
    int receivers; /* number of targets that are objects called by this function */
    struct Interception *holder; /* of a receiver: the function that its class calls */
    PyObject *always;            /* called with the arguments of each call, in any stack or none */
    PyObject *untouched;         /* of a slot wrapper: another one of the same slot */
    struct wrapperbase *original_base, base;
    void *original_wrapped;
    vectorcallfunc original;
    PyMethodDef *original_definition;
    PyMethodDef definition;
    PyObject *doc; /* of the definition */
    Thunk *thunk;
    vectorcallfunc vectorcall; /* calls of this object run the target's own code */
    Memo memo;
} Interception;

static PyObject *stack_variable, *key_variable, *resolver, *own_cache;

/* ---- table of objects by what they represent
 * ---------------------------------------------------- */

/* Common start of objects in a table: the object that is their key, which they hold. The table
 * holds them. */
typedef struct {
    PyObject_HEAD
    PyObject *of;
} StandsFor;

typedef struct {
    StandsFor **slots; /* open addressing; a power of two, at most half full */
    size_t capacity, used;
} Table;

static Table intercepted; /* Interceptions by their targets */

static inline size_t slot_of(const Table *table, PyObject *of) {
    size_t i = ((uintptr_t)of >> 4) * 0x9E3779B97F4A7C15u >> 20, mask = table->capacity - 1;
    for (i &= mask; table->slots[i] && table->slots[i]->of != of; i = (i + 1) & mask) {}
    return i;
}

static inline void *in_table(const Table *table, PyObject *of) {
    return table->capacity ? table->slots[slot_of(table, of)] : NULL;
}

static inline Interception *found(PyObject *target) { return in_table(&intercepted, target); }

static int add(Table *table, void *it) {
    if (2 * (table->used + 1) > table->capacity) {
        size_t old = table->capacity, larger = old ? 2 * old : 64;
        StandsFor **before = table->slots, **after = PyMem_Calloc(larger, sizeof *after);
        if (!after) {
            PyErr_NoMemory();
            return -1;
        }
        table->slots = after;
        table->capacity = larger;
        for (size_t i = 0; i < old; i++) {
            if (before[i]) table->slots[slot_of(table, before[i]->of)] = before[i];
        }
        PyMem_Free(before);
    }
    table->slots[slot_of(table, ((StandsFor *)it)->of)] = (StandsFor *)Py_NewRef((PyObject *)it);
    table->used++;
    return 0;
}

/* Remove an entry that is there, and move up those that were displaced by it. */
static void take_out(Table *table, PyObject *of) {
    size_t hole = slot_of(table, of), i = hole, mask = table->capacity - 1;
    StandsFor *it = table->slots[hole];
    table->slots[hole] = NULL;
    table->used--;
    for (;;) {
        i = (i + 1) & mask;
        StandsFor *other = table->slots[i];
        if (!other) break;
        table->slots[i] = NULL;
        table->slots[slot_of(table, other->of)] = other;
    }
    Py_DECREF(it);
}

static void take_all_out(Table *table) {
    Table old = *table; /* destructors may run code that gets here again */
    memset(table, 0, sizeof *table);
    for (size_t i = 0; i < old.capacity; i++) Py_XDECREF(old.slots[i]);
    PyMem_Free(old.slots);
}

/* ---- memo: cached resolutions by argument types
 * ----------------------------------------------- */

static inline PyObject *kept(Memo *memo, PyObject *key, PyObject *const *args, Py_ssize_t count) {
    for (int i = 0; i < memo->filled; i++) {
        Entry *entry = &memo->entries[i];
        if (entry->key != key || entry->count != count) continue;
        Py_ssize_t k = 0;
        while (k < count && entry->types[k] == Py_TYPE(args[k])) k++;
        if (k == count) return entry->implementation;
    }
    return NULL;
}

static void clear_entry(Entry *entry) {
    Entry old = *entry; /* destructors may run code that gets here again */
    memset(entry, 0, sizeof *entry);
    Py_XDECREF(old.key);
    for (Py_ssize_t k = 0; k < old.count; k++) Py_XDECREF(old.types[k]);
    Py_XDECREF(old.implementation);
}

static void forget_all(Memo *memo) {
    int filled = memo->filled;
    memo->forgotten++;
    memo->filled = memo->next = 0;
    for (int i = 0; i < filled; i++) clear_entry(&memo->entries[i]);
}

static void keep(Memo *memo, PyObject *key, PyObject *const *args, Py_ssize_t count, PyObject *implementation) {
    int place = memo->next;
    memo->next = (place + 1) % ENTRIES;
    Entry *entry = &memo->entries[place];
    clear_entry(entry);
    if (entry->key) return; /* a destructor has filled it meanwhile */
    entry->key = Py_NewRef(key);
    entry->count = count;
    for (Py_ssize_t k = 0; k < count; k++) entry->types[k] = (PyTypeObject *)Py_NewRef(Py_TYPE(args[k]));
    entry->implementation = Py_NewRef(implementation);
    if (memo->filled <= place) memo->filled = place + 1;
}

static int visit_memo(Memo *memo, visitproc visit, void *arg) {
    for (int i = 0; i < memo->filled; i++) {
        Py_VISIT(memo->entries[i].key);
        for (Py_ssize_t k = 0; k < memo->entries[i].count; k++) Py_VISIT(memo->entries[i].types[k]);
        Py_VISIT(memo->entries[i].implementation);
    }
    return 0;
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

/* The reverse: `first`, unless NULL, and the arguments, as a vector that the caller frees. The
 * names are a new reference, or NULL where there are none. */
static PyObject **as_vector(PyObject *first, PyObject *args, PyObject *named, PyObject **names) {
    Py_ssize_t before = first != NULL, count = PyTuple_GET_SIZE(args), more = named ? PyDict_GET_SIZE(named) : 0;
    Py_ssize_t at = 0, i = before + count;
    PyObject *name, *value, **given = PyMem_New(PyObject *, i + more + 1);
    *names = more ? PyTuple_New(more) : NULL;
    if (!given || (more && !*names)) {
        Py_CLEAR(*names);
        PyMem_Free(given);
        PyErr_NoMemory();
        return NULL;
    }
    if (first) given[0] = first;
    for (Py_ssize_t k = 0; k < count; k++) given[before + k] = PyTuple_GET_ITEM(args, k);
    while (more && PyDict_Next(named, &at, &name, &value)) {
        PyTuple_SET_ITEM(*names, i - before - count, Py_NewRef(name));
        given[i++] = value;
    }
    return given;
}

static PyObject *call_own(PyObject *callee, PyObject *args, PyObject *named);
static inline PyObject *called(Interception *it, PyObject *const *args, size_t nargsf, PyObject *names);

/* Call the target's own code. */
static PyObject *call_native(Interception *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *callee = it->thunk ? it->thunk->untouched : it->untouched ? it->untouched : it->target;
    if (it->kind == C_FUNCTION) { /* its method may have become a target, or ceased to be one */
        it->definition.ml_meth = it->original_definition->ml_meth;
    }
    if (it->original) return it->original(callee, args, nargsf, names);
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (it->kind == RECEIVER) { /* its own code is the function, which gets the receiver */
        Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
        PyObject *few[6], **given = few, *result;
        if (all + 1 > 6 && !(given = PyMem_New(PyObject *, all + 1))) return PyErr_NoMemory();
        given[0] = callee;
        if (all) memcpy(given + 1, args, all * sizeof *given);
        Interception *holder = (Interception *)Py_XNewRef(it->holder);
        if (holder) result = called(holder, given, count + 1, names);
        else result = PyObject_Vectorcall(callee, args, nargsf, names); /* removed meanwhile */
        Py_XDECREF(holder);
        if (given != few) PyMem_Free(given);
        return result;
    }
    /* it has no vectorcall of its own */
    PyObject *tuple, *dict;
    if (as_python(args, count, names, &tuple, &dict) < 0) return NULL;
    ternaryfunc call = it->kind == CALLED ? call_own : Py_TYPE(callee)->tp_call;
    PyObject *result = call(callee, tuple, PyDict_GET_SIZE(dict) ? dict : NULL);
    Py_DECREF(tuple);
    Py_DECREF(dict);
    return result;
}

/* The number of active calls of our own functions in this thread: their calls are not
 * dispatched, and see the stack that is in force. */
static _Thread_local int undispatched_calls;
/* The number of active calls of this thread that run without a stack on purpose. */
static _Thread_local int calls_outside;

/* The former value of see_events at the active call of a plugin's function; -1 without one. */
static _Thread_local int told_outside = -1;

typedef struct {
    int undispatched, told;
    PyObject *stack_token, *key_token;
} InForce;

/* Put a stack in force for the program's code. 0, or -1 with an error. */
static int begin_in(InForce *in, PyObject *stack, PyObject *key) {
    PyObject *now;
    *in = (InForce){.undispatched = undispatched_calls};
    in->told = see_events(in->undispatched ? told_outside : -1);
    undispatched_calls = 0;
    if (PyContextVar_Get(key_variable, NULL, &now) < 0) return -1;
    if (now != key || key == Py_None) {
        if (!(in->stack_token = PyContextVar_Set(stack_variable, stack))) goto failed;
        if (!(in->key_token = PyContextVar_Set(key_variable, key))) goto failed;
    }
    Py_DECREF(now);
    return 0;
failed:
    Py_DECREF(now);
    return -1;
}

static PyObject *end_in(InForce *in, PyObject *result) {
    PyObject *error = PyErr_GetRaisedException();
    see_events(in->told);
    undispatched_calls = in->undispatched;
    if ((in->key_token && PyContextVar_Reset(key_variable, in->key_token) < 0)
        || (in->stack_token && PyContextVar_Reset(stack_variable, in->stack_token) < 0)) {
        Py_CLEAR(result);
    }
    if (error) PyErr_SetRaisedException(error);
    Py_CLEAR(in->key_token);
    Py_CLEAR(in->stack_token);
    return result;
}

/* Call a function with a stack in force. */
static PyObject *call_in(PyObject *stack, PyObject *key, PyObject *function, PyObject *const *args, size_t nargsf,
                         PyObject *names) {
    InForce in;
    PyObject *result = NULL;
    if (begin_in(&in, stack, key) == 0) result = PyObject_Vectorcall(function, args, nargsf, names);
    return end_in(&in, result);
}

static PyObject *call_undispatched(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names) {
    undispatched_calls++;
    PyObject *result = PyObject_Vectorcall(function, args, nargsf, names);
    undispatched_calls--;
    return result;
}

/* ---- detection of calls without a stack in a thread that is inside one
 * -------------------------- */

static int watching;          /* number of stacks that watch */
static PyObject *lost;        /* the function that is notified */
static PyObject *inside_name; /* key in the thread's dict: the stack that the thread is inside */

/* Set the stack that this thread is inside; return the former one, a new reference. */
static PyObject *mark_inside(PyObject *stack) {
    PyObject *of_thread = PyThreadState_GetDict();
    if (!of_thread) return Py_NewRef(Py_None);
    PyObject *before = Py_XNewRef(PyDict_GetItemWithError(of_thread, inside_name));
    if (!before) before = Py_NewRef(Py_None);
    if (PyDict_SetItem(of_thread, inside_name, stack) < 0) Py_CLEAR(before);
    return before;
}

static void unmark_inside(PyObject *before) {
    PyObject *error = PyErr_GetRaisedException();
    Py_XDECREF(mark_inside(before));
    Py_DECREF(before);
    PyErr_SetRaisedException(error);
}

/* Report that the target's own code is about to run with no stack in force: 0, or -1 with an
 * error. */
static int tell_lost(Interception *it) {
    PyObject *of_thread = PyThreadState_GetDict();
    PyObject *stack = of_thread && !calls_outside ? PyDict_GetItemWithError(of_thread, inside_name) : NULL;
    if (!stack || stack == Py_None) return 0;
    PyObject *given[] = {it->record, Py_NewRef(stack)};
    PyObject *result = call_undispatched(lost, given, 2, NULL);
    Py_DECREF(stack);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static PyObject *call_implementation(PyObject *implementation, Interception *it, PyObject *const *args,
                                     size_t nargsf, PyObject *names) {
    if (it && implementation == Py_None) return call_native(it, args, nargsf, names);
    return PyObject_Vectorcall(implementation, args, nargsf, names);
}

/* Resolve a call by a function of ours, and make it. The function returns a tuple: the
 * implementation (None for the target's own code); whether the argument types alone decide it;
 * third and fourth, the arguments for the call where these differ from those given. */
static PyObject *resolve_and_call(PyObject *function, PyObject *of, PyObject *stack, Memo *memo, PyObject *key,
                                  Interception *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *tuple, *dict, *result;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    /* The resolver is Python code: until it has returned, another thread may change a table. */
    unsigned long before = memo ? memo->forgotten : 0;
    if (as_python(args, count, names, &tuple, &dict) < 0) return NULL;
    PyObject *given[] = {of, stack, tuple, dict};
    PyObject *answer = call_undispatched(function, given, 4, NULL);
    Py_DECREF(tuple);
    Py_DECREF(dict);
    if (!answer) return NULL;
    if (!PyTuple_CheckExact(answer) || PyTuple_GET_SIZE(answer) != 4) {
        PyErr_SetString(PyExc_SystemError, "the resolver of overlay gave no tuple of four");
        Py_DECREF(answer);
        return NULL;
    }
    PyObject *implementation = PyTuple_GET_ITEM(answer, 0), *positional = PyTuple_GET_ITEM(answer, 2);
    if (memo && memo->forgotten == before && PyTuple_GET_ITEM(answer, 1) == Py_True && (!it || it->wanted)) {
        keep(memo, key, args, count, implementation);
    }
    if (positional == Py_None) result = call_implementation(implementation, it, args, nargsf, names);
    else result = PyObject_Call(implementation, positional, PyTuple_GET_ITEM(answer, 3));
    Py_DECREF(answer);
    return result;
}

static PyObject *dispatch(Interception *it, PyObject *stack, PyObject *const *args, size_t nargsf, PyObject *names) {
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    int simple = count <= TYPES && !(names && PyTuple_GET_SIZE(names));
    PyObject *key = NULL, *result, *implementation = NULL;
    if (simple) {
        if (PyContextVar_Get(key_variable, NULL, &key) < 0) return NULL;
        implementation = Py_XNewRef(kept(&it->memo, key, args, count));
    }
    if (implementation) result = call_implementation(implementation, it, args, nargsf, names);
    else result = resolve_and_call(resolver, it->record, stack, simple ? &it->memo : NULL, key, it, args, nargsf, names);
    Py_XDECREF(implementation);
    Py_XDECREF(key);
    return result;
}

static int is_called_by_us(Interception *it);

static inline PyObject *called(Interception *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *stack, *result;
    if (PyContextVar_Get(stack_variable, NULL, &stack) < 0) return NULL;
#if COUNTS_LEVELS
    if (check_room() < 0) {
        Py_DECREF(stack);
        return NULL;
    }
    /* levels of C calls that a native call does not use */
    grant_levels(4);
#endif
    Py_INCREF(it); /* the call may remove its target's interception */
    if (it->always) {
        PyObject *told = call_undispatched(it->always, args, PyVectorcall_NARGS(nargsf), NULL);
        if (!told) PyErr_WriteUnraisable(it->always);
        Py_XDECREF(told);
    }
    int native = stack == Py_None || !it->wanted || undispatched_calls
        || (it->kind == CLASS && is_called_by_us(it));
    if (watching && stack == Py_None && it->wanted && !undispatched_calls && tell_lost(it) < 0) result = NULL;
    else result = native ? call_native(it, args, nargsf, names)
                                             : dispatch(it, stack, args, nargsf, names);
    Py_DECREF(it);
#if COUNTS_LEVELS
    grant_levels(-4);
#endif
    Py_DECREF(stack);
    return result;
}

/* In another interpreter, which shares builtin classes and their definitions, none of our
 * objects may be touched: it has another lock. */
static int is_elsewhere(void) { return PyInterpreterState_Get() != PyInterpreterState_Main(); }

static PyObject *trampoline(PyObject *callee, PyObject *const *args, size_t nargsf, PyObject *names) {
    Interception *it = found(callee);
    if (!it) { /* the callee was copied with its slot, which no known code does */
        PyErr_Format(PyExc_SystemError, "%R is called through overlay and is no target", callee);
        return NULL;
    }
    if (it->kind == CLASS && is_elsewhere()) return call_native(it, args, nargsf, names);
    if (it->receivers && PyVectorcall_NARGS(nargsf)) {
        Interception *receiver = found(args[0]);
        if (receiver && receiver->holder == it) {
            return called(receiver, args + 1, PyVectorcall_NARGS(nargsf) - 1, names);
        }
    }
    return called(it, args, nargsf, names);
}

/* ---- objects that are called through their class alone
 * ----------------------------------------- */

/* A class whose tp_call is replaced. It is never freed: classes made meanwhile inherit ours. */
typedef struct {
    PyTypeObject *cls;
    ternaryfunc original;
    PyWrapperDescrObject *named; /* its __call__ */
    int users;
    int caches; /* its objects cache results, so that each stack has its own */
} CallSlot;

#define CALL_SLOTS 64
static CallSlot call_slots[CALL_SLOTS];
static int call_slot_count;

static CallSlot *call_slot_of(PyTypeObject *cls) {
    for (; cls; cls = cls->tp_base) {
        for (int i = 0; i < call_slot_count; i++) {
            if (call_slots[i].cls == cls) return &call_slots[i];
        }
    }
    return NULL;
}

/* Call such an object natively; in a stack, call the stack's own object in its place. */
static PyObject *call_own(PyObject *callee, PyObject *args, PyObject *named) {
    CallSlot *slot = call_slot_of(Py_TYPE(callee));
    if (!slot->caches || !slot->users) return slot->original(callee, args, named);
    PyObject *stack, *result, *instead;
    if (PyContextVar_Get(stack_variable, NULL, &stack) < 0) return NULL;
    if (stack == Py_None || undispatched_calls) result = slot->original(callee, args, named);
    else {
        PyObject *given[] = {callee, stack};
        instead = call_undispatched(own_cache, given, 2, NULL);
        if (!instead) result = NULL;
        else if (Py_IS_TYPE(instead, Py_TYPE(callee))) result = slot->original(instead, args, named);
        else result = PyObject_Call(instead, args, named);
        Py_XDECREF(instead);
    }
    Py_DECREF(stack);
    return result;
}

static PyObject *call_by_class(PyObject *callee, PyObject *args, PyObject *named) {
    Interception *it = found(callee);
    if (!it || it->kind != CALLED) return call_own(callee, args, named);
    PyObject *names, **given = as_vector(NULL, args, named, &names), *result;
    if (!given) return NULL;
    result = called(it, given, PyTuple_GET_SIZE(args), names);
    Py_XDECREF(names);
    PyMem_Free(given);
    return result;
}

/* Replace tp_call of a class, and the function that its __call__ wraps. */
static CallSlot *exchange_call(PyTypeObject *cls) {
    CallSlot *slot = NULL;
    for (int i = 0; i < call_slot_count; i++) {
        if (call_slots[i].cls == cls) slot = &call_slots[i];
    }
    if (!slot) {
        if (call_slot_count == CALL_SLOTS) {
            PyErr_Format(PyExc_ValueError, "%R is one class too many: objects of %d can be targets", cls, CALL_SLOTS);
            return NULL;
        }
        CallSlot *inherited = call_slot_of(cls);
        PyObject *named = PyObject_GetAttrString((PyObject *)cls, "__call__");
        if (!named) return NULL;
        slot = &call_slots[call_slot_count++];
        slot->cls = (PyTypeObject *)Py_NewRef(cls);
        slot->original = cls->tp_call == call_by_class ? inherited->original : cls->tp_call;
        slot->caches = inherited && inherited->caches;
        if (Py_IS_TYPE(named, &PyWrapperDescr_Type)) {
            PyTypeObject *definer = PyDescr_TYPE((PyDescrObject *)named);
            void *wrapped = ((PyWrapperDescrObject *)named)->d_wrapped;
            if (wrapped == (void *)slot->original || wrapped == (void *)call_by_class) {
                slot->named = (PyWrapperDescrObject *)Py_NewRef(named);
                /* objects of other classes below the definer get here only through its __call__ */
                if (!call_slot_of(definer) && call_slot_count < CALL_SLOTS) {
                    call_slots[call_slot_count++] =
                        (CallSlot){.cls = (PyTypeObject *)Py_NewRef(definer), .original = slot->original};
                }
            }
        }
        Py_DECREF(named);
    }
    if (!slot->users++) {
        cls->tp_call = call_by_class;
        if (slot->named) slot->named->d_wrapped = (void *)call_by_class;
    }
    return slot;
}

static void leave_call(CallSlot *slot) {
    if (--slot->users) return;
    if (slot->cls->tp_call == call_by_class) slot->cls->tp_call = slot->original;
    if (!slot->named) return;
    for (int i = 0; i < call_slot_count; i++) {
        if (call_slots[i].users && call_slots[i].named == slot->named) return;
    }
    slot->named->d_wrapped = (void *)slot->original;
}

/* ---- slot wrappers, as int.__add__: `wrapped` identifies the one that is called
 * ----------------- */

static PyObject *call_slot_wrapper(PyObject *self, PyObject *args, void *wrapped, PyObject *named) {
    PyObject *names, **given = as_vector(self, args, named, &names), *result;
    if (!given) return NULL;
    result = called(wrapped, given, PyTuple_GET_SIZE(args) + 1, names);
    Py_XDECREF(names);
    PyMem_Free(given);
    return result;
}

/* ---- methods of C classes: their functions do not get the callee
 * -------------------------------- */

static Thunk thunks[THUNKS];
static int thunk_count;

static PyObject *call_thunk(int index, PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Thunk *thunk = &thunks[index];
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *few[6], **given = few, *result;
    PyTypeObject *cls = is_elsewhere() ? NULL : PyDescr_TYPE(thunk->descriptor);
    if (!cls || (!(PyType_Check(self) && PyType_IsSubtype((PyTypeObject *)self, cls)) && !PyObject_TypeCheck(self, cls))) {
        /* or another class shares the definition of its methods */
        PyObject *method = PyCMethod_New(&thunk->native, self, NULL,
                                         thunk->native.ml_flags & METH_METHOD ? Py_TYPE(self) : NULL);
        if (!method) return NULL;
        result = PyObject_Vectorcall(method, args, count, names);
        Py_DECREF(method);
        return result;
    }
    if (all + 1 > 6 && !(given = PyMem_New(PyObject *, all + 1))) return PyErr_NoMemory();
    given[0] = self;
    if (all) memcpy(given + 1, args, all * sizeof *given);
    Interception *it = found(thunk->descriptor);
    if (it) result = called(it, given, count + 1, names);
    else result = PyObject_Vectorcall(thunk->untouched, given, count + 1, names);
    if (given != few) PyMem_Free(given);
    return result;
}

static PyObject *call_with_tuple(int index, PyObject *self, PyObject *args, PyObject *named) {
    PyObject *names, **given = as_vector(NULL, args, named, &names), *result;
    if (!given) return NULL;
    result = call_thunk(index, self, given, PyTuple_GET_SIZE(args), names);
    Py_XDECREF(names);
    PyMem_Free(given);
    return result;
}

/* A thunk in each calling convention: bound methods that were made before hold the definition of
 * the class, and call its ml_meth by the convention that it had then. */
enum { FAST_KEYWORDS, FAST, NO_ARGUMENTS, ONE, TUPLE, TUPLE_KEYWORDS, TOLD_CLASS, CONVENTIONS };

static int convention_of(int flags) {
    switch (flags & ~(METH_CLASS | METH_STATIC | METH_COEXIST)) {
    case METH_FASTCALL | METH_KEYWORDS: return FAST_KEYWORDS;
    case METH_FASTCALL: return FAST;
    case METH_NOARGS: return NO_ARGUMENTS;
    case METH_O: return ONE;
    case METH_VARARGS: return TUPLE;
    case METH_VARARGS | METH_KEYWORDS: return TUPLE_KEYWORDS;
    case METH_METHOD | METH_FASTCALL | METH_KEYWORDS: return TOLD_CLASS;
    default: return -1;
    }
}

#define P PyObject *
#define THUNK(n)                                                                                          \
    static P fast_keywords_##n(P s, P const *a, Py_ssize_t c, P k) { return call_thunk(0x##n, s, a, c, k); } \
    static P fast_##n(P s, P const *a, Py_ssize_t c) { return call_thunk(0x##n, s, a, c, NULL); }          \
    static P no_arguments_##n(P s, P a) { return call_thunk(0x##n, s, NULL, 0, NULL); }                    \
    static P one_##n(P s, P a) { return call_thunk(0x##n, s, &a, 1, NULL); }                               \
    static P tuple_##n(P s, P a) { return call_with_tuple(0x##n, s, a, NULL); }                            \
    static P tuple_keywords_##n(P s, P a, P k) { return call_with_tuple(0x##n, s, a, k); }                 \
    static P told_class_##n(P s, PyTypeObject *t, P const *a, size_t c, P k) {                             \
        return call_thunk(0x##n, s, a, c, k);                                                              \
    }
#define EACH(X, h) X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) X(h##8) X(h##9)   \
        X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define ALL(X) EACH(X, 0) EACH(X, 1) EACH(X, 2) EACH(X, 3) EACH(X, 4) EACH(X, 5) EACH(X, 6) EACH(X, 7) \
        EACH(X, 8) EACH(X, 9) EACH(X, a) EACH(X, b) EACH(X, c) EACH(X, d) EACH(X, e) EACH(X, f)
ALL(THUNK)
#define POINTER(f) (PyCFunction)(void (*)(void))f
#define NAMES(n)                                                                                     \
    {POINTER(fast_keywords_##n), POINTER(fast_##n), POINTER(no_arguments_##n), POINTER(one_##n),     \
     POINTER(tuple_##n), POINTER(tuple_keywords_##n), POINTER(told_class_##n)},
static const PyCFunction thunk_functions[THUNKS][CONVENTIONS] = {ALL(NAMES)};
#undef P

/* Whether memory is writable: asks the kernel, since the processor would end the process. */
static int is_writable(void *address, size_t size) {
#ifdef _WIN32
    return 0;
#else
    int ends[2];
    if (pipe(ends) < 0) return 0;
    int is = write(ends[1], address, size) == (ssize_t)size && read(ends[0], address, size) == (ssize_t)size;
    close(ends[0]);
    close(ends[1]);
    return is;
#endif
}

/* Add to the doc of a definition with other flags the signature that the interpreter derives
 * from the flags of the target's own (3.13+). Return the object that holds the text, or NULL
 * with no error. */
static PyObject *keep_signature(PyObject *target, PyMethodDef *definition) {
    PyObject *signature = PyObject_GetAttrString(target, "__text_signature__");
    PyObject *doc = signature ? PyObject_GetAttrString(target, "__doc__") : NULL, *text = NULL;
    if (doc && PyUnicode_Check(signature)) {
        if (PyUnicode_Check(doc)) text = PyUnicode_FromFormat("%s%U\n--\n\n%U", definition->ml_name, signature, doc);
        else text = PyUnicode_FromFormat("%s%U\n--\n\n", definition->ml_name, signature);
    }
    const char *bytes = text ? PyUnicode_AsUTF8(text) : NULL;
    if (bytes) definition->ml_doc = bytes;
    else Py_CLEAR(text);
    PyErr_Clear();
    Py_XDECREF(signature);
    Py_XDECREF(doc);
    return text;
}

static Thunk *thunk_for(PyObject *target) {
    for (int i = 0; i < thunk_count; i++) {
        if (thunks[i].descriptor == target) return &thunks[i];
    }
    PyMethodDescrObject *descriptor = (PyMethodDescrObject *)target;
    const char *why = NULL;
    if (thunk_count == THUNKS) why = "256 methods of C classes are targets already, which is the most";
    else if (convention_of(descriptor->d_method->ml_flags) < 0) why = "its calling convention is not known";
    else if (!is_writable(descriptor->d_method, sizeof(PyMethodDef))) why = "its definition cannot be written";
    if (why) {
        PyErr_Format(PyExc_TypeError, "%R cannot be intercepted: %s", target, why);
        return NULL;
    }
    Thunk *thunk = &thunks[thunk_count];
    thunk->native = *descriptor->d_method;
    thunk->untouched = Py_IS_TYPE(descriptor, &PyClassMethodDescr_Type)
                           ? PyDescr_NewClassMethod(PyDescr_TYPE(descriptor), &thunk->native)
                           : PyDescr_NewMethod(PyDescr_TYPE(descriptor), &thunk->native);
    if (!thunk->untouched) return NULL;
    thunk->descriptor = Py_NewRef(target);
    thunk->original = descriptor->d_method;
    thunk->definition = thunk->native;
    thunk->definition.ml_meth = thunk_functions[thunk_count++][FAST_KEYWORDS];
    thunk->definition.ml_flags = METH_FASTCALL | METH_KEYWORDS | (thunk->native.ml_flags & METH_CLASS);
    thunk->doc = keep_signature(target, &thunk->definition);
    return thunk;
}

/* ---- installing ------------------------------------------------------------------------------- */

static vectorcallfunc *vectorcall_slot(PyObject *target) {
    Py_ssize_t offset = Py_TYPE(target)->tp_vectorcall_offset;
    if (!PyType_HasFeature(Py_TYPE(target), Py_TPFLAGS_HAVE_VECTORCALL) || offset <= 0) return NULL;
    return (vectorcallfunc *)((char *)target + offset);
}

/* An attribute of a class, borrowed, without binding; NULL where it has none. */
static PyObject *of_class(PyTypeObject *cls, const char *name) {
    PyObject *mro = cls->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *attributes = PyType_GetDict((PyTypeObject *)PyTuple_GET_ITEM(mro, i));
        PyObject *held = attributes ? PyDict_GetItemString(attributes, name) : NULL;
        Py_XDECREF(attributes);
        if (held) return held;
    }
    return NULL;
}

static PyObject *call_of_its_class(PyObject *target) { return of_class(Py_TYPE(target), "__call__"); }

static int find_kind(PyObject *target, Kind *kind) {
    const char *why = "objects of its class cannot be";
    PyObject *call;
    if (PyFunction_Check(target)) *kind = FUNCTION;
    else if (PyCFunction_Check(target)) *kind = C_FUNCTION;
    else if (Py_IS_TYPE(target, &PyMethodDescr_Type) || Py_IS_TYPE(target, &PyClassMethodDescr_Type)) *kind = METHOD;
    else if (Py_IS_TYPE(target, &PyWrapperDescr_Type)) *kind = SLOT;
    else if (PyType_Check(target) && vectorcall_slot(target) && Py_TYPE(target)->tp_call == PyType_Type.tp_call) *kind = CLASS;
    else if (!PyType_Check(target) && vectorcall_slot(target) && *vectorcall_slot(target) && !PyMethod_Check(target)) {
        *kind = OBJECT; /* an empty slot, as in some Cython functions, needs tp_call */
    }
    else if (PyMethod_Check(target) || !strcmp(Py_TYPE(target)->tp_name, "method-wrapper")) {
        why = "it is bound to one object";
        goto refused;
    } else if (!(call = call_of_its_class(target))) goto refused;
    else if (PyFunction_Check(call)) *kind = RECEIVER;
    else if (Py_IS_TYPE(call, &PyWrapperDescr_Type)) *kind = CALLED;
    else {
        why = "what its class has as __call__ is no function";
        goto refused;
    }
    return 0;
refused:
    PyErr_Format(PyExc_TypeError, "%R cannot be intercepted: %s", target, why);
    return -1;
}

static int set_special(Interception *it, int installed) {
    PyObject *target = it->target;
    struct callable_cache *cache = special_callables();
    PyObject *names[] = {cache->isinstance, cache->len, cache->list_append};
    PyObject **fields[] = {&cache->isinstance, &cache->len, &cache->list_append};
    static PyObject *hidden[3], *importing;
    if (PyCFunction_Check(target) && !strcmp(((PyCFunctionObject *)target)->m_ml->ml_name, "__import__")) {
        if (installed && *usual_import() == target) { /* import statements call it, too */
            PyCFunctionObject *function = (PyCFunctionObject *)target;
            PyObject *native = PyCFunction_NewEx(it->original_definition, function->m_self, function->m_module);
            if (!native) return -1;
            importing = target;
            *usual_import() = native; /* used by imports from a package */
        } else if (!installed && importing == target) {
            Py_SETREF(*usual_import(), importing);
            importing = NULL;
        }
    }
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

static PyTypeObject Interception_Type;
static PyObject *call_below(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

static Interception *new_interception(PyObject *target, PyObject *record, Kind kind) {
    Interception *it = (Interception *)Interception_Type.tp_alloc(&Interception_Type, 0);
    if (!it) return NULL;
    it->target = Py_NewRef(target);
    it->record = Py_NewRef(record);
    it->kind = kind;
    it->vectorcall = call_below;
    return it;
}

static int put_in(Interception *it);

/* Intercept the function by which a receiver is called. */
static int hold_receiver(Interception *it) {
    PyObject *function = call_of_its_class(it->target);
    if (!function || !PyFunction_Check(function)) {
        PyErr_Format(PyExc_TypeError, "%R has no function as __call__ any more", it->target);
        return -1;
    }
    Interception *holder = found(function);
    if (holder) Py_INCREF(holder);
    else if (!(holder = new_interception(function, Py_None, FUNCTION))) return -1;
    else if (add(&intercepted, holder) < 0 || put_in(holder) < 0) {
        Py_DECREF(holder);
        return -1;
    }
    holder->receivers++;
    it->holder = holder;
    return 0;
}

static void take_back(Interception *it);

static int put_in(Interception *it) {
    PyObject *target = it->target;
    vectorcallfunc *slot = vectorcall_slot(target);
    switch (it->kind) {
    case FUNCTION:
        it->original = ((PyFunctionObject *)target)->vectorcall;
        PyFunction_SetVectorcall((PyFunctionObject *)target, trampoline); /* not inlined now */
        break;
    case C_FUNCTION: {
        PyCFunctionObject *function = (PyCFunctionObject *)target;
        it->original = *slot;
        it->original_definition = function->m_ml;
        if (!(function->m_ml->ml_flags & METH_VARARGS)) {
            /* Instructions call ml_meth directly for flags that they know: they know none of these.
             * ml_meth stays, since hash and equality use it, and so does METH_METHOD, which
             * determines the size of the object. */
            it->definition = *function->m_ml;
            Py_XSETREF(it->doc, keep_signature(target, &it->definition));
            it->definition.ml_flags &= METH_METHOD | METH_STATIC | METH_CLASS;
            function->m_ml = &it->definition;
        }
        *slot = trampoline;
        break;
    }
    case METHOD: {
        PyMethodDescrObject *descriptor = (PyMethodDescrObject *)target;
        Thunk *thunk = it->thunk;
        descriptor->d_method = &thunk->definition;
        thunk->original->ml_meth = thunk_functions[thunk - thunks][convention_of(thunk->native.ml_flags)];
        if (slot) { /* a class method is called through the bound one that it gives */
            it->original = ((PyMethodDescrObject *)thunk->untouched)->vectorcall;
            descriptor->vectorcall = trampoline;
        }
        break;
    }
    case SLOT: {
        PyWrapperDescrObject *wrapper = (PyWrapperDescrObject *)target;
        it->original_base = wrapper->d_base;
        it->original_wrapped = wrapper->d_wrapped;
        it->base = *wrapper->d_base;
        it->base.wrapper = (wrapperfunc)(void (*)(void))call_slot_wrapper;
        it->base.flags |= PyWrapperFlag_KEYWORDS;
        wrapper->d_base = &it->base;
        wrapper->d_wrapped = it;
        break;
    }
    case CLASS:
        it->original = ((PyTypeObject *)target)->tp_vectorcall;
        ((PyTypeObject *)target)->tp_vectorcall = trampoline;
        break;
    case OBJECT:
        it->original = *slot;
        *slot = trampoline;
        break;
    case CALLED:
        if (!exchange_call(Py_TYPE(target))) return -1;
        break;
    case RECEIVER:
        if (hold_receiver(it) < 0) return -1;
        break;
    }
    it->installed = 1;
    if (set_special(it, 1) < 0) {
        take_back(it);
        return -1;
    }
    return 0;
}

static void take_back(Interception *it) {
    PyObject *target = it->target;
    it->installed = 0;
    set_special(it, 0);
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
        it->thunk->original->ml_meth = it->thunk->native.ml_meth;
        if (it->original) descriptor->vectorcall = it->original;
        break;
    }
    case SLOT:
        ((PyWrapperDescrObject *)target)->d_base = it->original_base;
        ((PyWrapperDescrObject *)target)->d_wrapped = it->original_wrapped;
        break;
    case CLASS:
        ((PyTypeObject *)target)->tp_vectorcall = it->original;
        break;
    case OBJECT:
        *vectorcall_slot(target) = it->original;
        break;
    case CALLED:
        leave_call(call_slot_of(Py_TYPE(target)));
        break;
    case RECEIVER: {
        Interception *holder = it->holder;
        it->holder = NULL;
        if (!--holder->receivers && !holder->wanted) {
            take_back(holder);
            take_out(&intercepted, holder->target);
        }
        Py_DECREF(holder);
        break;
    }
    }
    forget_all(&it->memo);
}

/* ---- Interception, as Python sees it
 * ----------------------------------------------------------- */

static PyObject *make(PyTypeObject *cls, PyObject *args, PyObject *named) {
    PyObject *target, *record;
    static char *names[] = {"target", "record", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO:Interception", names, &target, &record)) return NULL;
    Kind kind;
    if (find_kind(target, &kind) < 0) return NULL;
    Interception *it = found(target);
    if (it && it->wanted) return PyErr_Format(PyExc_ValueError, "%R is intercepted already", target);
    if (it) { /* installed for its receivers so far */
        Py_XSETREF(it->record, Py_NewRef(record));
        return Py_NewRef(it);
    }
    Thunk *thunk = NULL;
    if (kind == METHOD && !(thunk = thunk_for(target))) return NULL;
    if (!(it = new_interception(target, record, kind))) return NULL;
    it->thunk = thunk;
    if (kind == SLOT) {
        PyWrapperDescrObject *wrapper = (PyWrapperDescrObject *)target;
        if (!(it->untouched = PyDescr_NewWrapper(PyDescr_TYPE(wrapper), wrapper->d_base, wrapper->d_wrapped))) {
            Py_CLEAR(it);
        }
    }
    return (PyObject *)it;
}

static PyObject *install(Interception *it, PyObject *nothing) {
    Interception *other = found(it->target);
    if (other && other != it) return PyErr_Format(PyExc_ValueError, "%R is intercepted already", it->target);
    if (!resolver) return PyErr_Format(PyExc_RuntimeError, "set_up_engine() has not been called");
    if (!other) {
        if (add(&intercepted, it) < 0) return NULL;
        if (put_in(it) < 0) {
            take_out(&intercepted, it->target);
            return NULL;
        }
    }
    it->wanted = 1;
    Py_RETURN_NONE;
}

static PyObject *remove_it(Interception *it, PyObject *nothing) {
    it->wanted = 0;
    forget_all(&it->memo);
    if (it->installed && !it->receivers) {
        take_back(it);
        take_out(&intercepted, it->target);
    }
    Py_RETURN_NONE;
}

static PyObject *forget(Interception *it, PyObject *nothing) {
    forget_all(&it->memo);
    Py_RETURN_NONE;
}

/* Call the target's own code, in any stack or none. */
static PyObject *call_below(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Interception *it = (Interception *)self;
    if (!it->installed) return PyObject_Vectorcall(it->target, args, nargsf, names);
    Py_INCREF(it);
    PyObject *result = call_native(it, args, nargsf, names);
    Py_DECREF(it);
    return result;
}

static int traverse(Interception *it, visitproc visit, void *arg) {
    Py_VISIT(it->target);
    Py_VISIT(it->record);
    Py_VISIT(it->always);
    Py_VISIT(it->untouched);
    Py_VISIT(it->holder);
    return visit_memo(&it->memo, visit, arg);
}

static int clear(Interception *it) {
    /* an installed one is held by the table and never garbage: this one is no longer called */
    forget_all(&it->memo);
    Py_CLEAR(it->record);
    Py_CLEAR(it->always);
    Py_CLEAR(it->untouched);
    Py_CLEAR(it->holder);
    return 0;
}

static void dealloc(Interception *it) {
    PyObject_GC_UnTrack(it);
    clear(it);
    Py_CLEAR(it->target);
    Py_CLEAR(it->doc);
    Py_TYPE(it)->tp_free(it);
}

static PyObject *get_kind(Interception *it, void *closure) { return PyUnicode_FromString(kind_names[it->kind]); }
static PyObject *get_installed(Interception *it, void *closure) { return PyBool_FromLong(it->wanted); }
static PyObject *get_kept(Interception *it, void *closure) { return PyLong_FromLong(it->memo.filled); }

static PyObject *tell(Interception *it, PyObject *always) {
    Py_XSETREF(it->always, Py_NewRef(always));
    Py_RETURN_NONE;
}

static PyMethodDef interception_methods[] = {
    {"tell", (PyCFunction)tell, METH_O, "Call a function with the arguments of each call, whatever stack is in force."},
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
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Interception, vectorcall),
    .tp_new = make,
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
    .tp_dealloc = (destructor)dealloc,
    .tp_methods = interception_methods,
    .tp_members = interception_members,
    .tp_getset = interception_getset,
};

/* ---- Place: position in a chain of methods, for call_next
 * -------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Memo memo;
} Place;

static PyTypeObject Place_Type;
static PyObject *next_resolver;
static vectorcallfunc python_call_next;

static PyObject *call_place(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Memo *memo = &((Place *)self)->memo;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    int simple = count <= TYPES && !(names && PyTuple_GET_SIZE(names));
    PyObject *implementation = simple ? Py_XNewRef(kept(memo, Py_None, args, count)) : NULL, *result;
    if (implementation) {
        result = PyObject_Vectorcall(implementation, args, nargsf, names);
        Py_DECREF(implementation);
        return result;
    }
    Py_INCREF(self);
    result = resolve_and_call(next_resolver, self, Py_None, simple ? memo : NULL, Py_None, NULL, args, nargsf, names);
    Py_DECREF(self);
    return result;
}

/* call_next() in a method, whose code has the place below it as its last constant. */
static PyObject *call_next(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    struct _PyInterpreterFrame *frame = current_frame();
    PyCodeObject *code = frame ? (PyCodeObject *)PyUnstable_InterpreterFrame_GetCode(frame) : NULL;
    PyObject *place = NULL, *result;
    if (code && PyCode_Check(code) && PyTuple_GET_SIZE(code->co_consts)) {
        place = PyTuple_GET_ITEM(code->co_consts, PyTuple_GET_SIZE(code->co_consts) - 1);
        if (PyObject_TypeCheck(place, &Place_Type) && PyVectorcall_Function(place) == call_place) Py_INCREF(place);
        else place = NULL;
    }
    Py_XDECREF(code);
    result = place ? call_place(place, args, nargsf, names) : python_call_next(self, args, nargsf, names);
    Py_XDECREF(place);
    return result;
}

static PyObject *make_place(PyTypeObject *cls, PyObject *args, PyObject *named) {
    Place *it = (Place *)cls->tp_alloc(cls, 0);
    if (it) it->vectorcall = call_place;
    return (PyObject *)it;
}

static PyObject *forget_place(Place *it, PyObject *nothing) {
    forget_all(&it->memo);
    Py_RETURN_NONE;
}

static int traverse_place(Place *it, visitproc visit, void *arg) { return visit_memo(&it->memo, visit, arg); }

static int clear_place(Place *it) {
    forget_all(&it->memo);
    return 0;
}

static void dealloc_place(Place *it) {
    PyObject_GC_UnTrack(it);
    clear_place(it);
    Py_TYPE(it)->tp_free(it);
}

static PyMethodDef place_methods[] = {
    {"forget_kept", (PyCFunction)forget_place, METH_NOARGS, "Resolve anew from the next call on."},
    {NULL},
};
static PyTypeObject Place_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Place",
    .tp_doc = "A place in a chain of methods: calling it calls the next one for the arguments.",
    .tp_basicsize = sizeof(Place),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Place, vectorcall),
    .tp_new = make_place,
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse_place,
    .tp_clear = (inquiry)clear_place,
    .tp_dealloc = (destructor)dealloc_place,
    .tp_methods = place_methods,
};

static PyObject *set_up_call_next(PyObject *module, PyObject *args) {
    PyObject *function, *next;
    if (!PyArg_ParseTuple(args, "O!O:set_up_call_next", &PyFunction_Type, &function, &next)) return NULL;
    if (((PyFunctionObject *)function)->vectorcall != call_next) {
        python_call_next = ((PyFunctionObject *)function)->vectorcall;
        PyFunction_SetVectorcall((PyFunctionObject *)function, call_next);
    }
    Py_XSETREF(next_resolver, Py_NewRef(next));
    Py_RETURN_NONE;
}

/* ---- Carried: a callable bound to a stack
 * ------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    PyObject *function;
    vectorcallfunc vectorcall;
    PyObject *stack, *key;
} Carried;

static PyTypeObject Carried_Type;

static PyObject *call_carried(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Carried *it = (Carried *)Py_NewRef(self);
    int outside = it->stack == Py_None; /* run without a stack on purpose */
    calls_outside += outside;
    PyObject *before = watching && !outside ? mark_inside(it->stack) : NULL;
    PyObject *result = call_in(it->stack, it->key, it->function, args, nargsf, names);
    calls_outside -= outside;
    if (before) unmark_inside(before);
    Py_DECREF(it);
    return result;
}

static PyObject *make_carried(PyTypeObject *cls, PyObject *args, PyObject *named) {
    PyObject *function, *stack, *key;
    if (!PyArg_ParseTuple(args, "OOO:Carried", &function, &stack, &key)) return NULL;
    Carried *it = (Carried *)cls->tp_alloc(cls, 0);
    if (!it) return NULL;
    it->vectorcall = call_carried;
    it->function = Py_NewRef(function);
    it->stack = Py_NewRef(stack);
    it->key = Py_NewRef(key);
    return (PyObject *)it;
}

static int traverse_carried(Carried *it, visitproc visit, void *arg) {
    Py_VISIT(it->function);
    Py_VISIT(it->stack);
    Py_VISIT(it->key);
    return 0;
}

static void dealloc_carried(Carried *it) {
    PyObject_GC_UnTrack(it);
    Py_XDECREF(it->function);
    Py_XDECREF(it->stack);
    Py_XDECREF(it->key);
    Py_TYPE(it)->tp_free(it);
}

static PyObject *carried_attribute(Carried *it, PyObject *name) {
    PyObject *own = PyObject_GenericGetAttr((PyObject *)it, name);
    if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
    PyErr_Clear();
    return PyObject_GetAttr(it->function, name);
}

/* Noting: a callable with hooks before and after each call. It has the layout of a Carried. */
static PyTypeObject Noting_Type;

static PyObject *call_noting(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Carried *it = (Carried *)Py_NewRef(self);
    PyObject *noted = it->stack == Py_None ? Py_NewRef(Py_None) : call_undispatched(it->stack, NULL, 0, NULL);
    PyObject *result = noted ? PyObject_Vectorcall(it->function, args, nargsf, names) : NULL;
    Py_XDECREF(noted);
    if (result && it->key != Py_None) {
        noted = call_undispatched(it->key, NULL, 0, NULL);
        if (!noted) Py_CLEAR(result);
        Py_XDECREF(noted);
    }
    Py_DECREF(it);
    return result;
}

static PyObject *make_noting(PyTypeObject *cls, PyObject *args, PyObject *named) {
    PyObject *function, *note, *after = Py_None;
    if (!PyArg_ParseTuple(args, "OO|O:Noting", &function, &note, &after)) return NULL;
    Carried *it = (Carried *)cls->tp_alloc(cls, 0);
    if (!it) return NULL;
    it->vectorcall = call_noting;
    it->function = Py_NewRef(function);
    it->stack = Py_NewRef(note);
    it->key = Py_NewRef(after);
    return (PyObject *)it;
}

static PyMemberDef carried_members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(Carried, function), READONLY, "What it calls."},
    {NULL},
};
static PyTypeObject Carried_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Carried",
    .tp_doc = "Carried(function, stack, key): the function, run in a stack.",
    .tp_basicsize = sizeof(Carried),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Carried, vectorcall),
    .tp_new = make_carried,
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse_carried,
    .tp_dealloc = (destructor)dealloc_carried,
    .tp_getattro = (getattrofunc)carried_attribute,
    .tp_members = carried_members,
};

static PyTypeObject Noting_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Noting",
    .tp_doc = "Noting(function, before, after=None): the function; before() and after() are called with each call of it.",
    .tp_basicsize = sizeof(Carried),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Carried, vectorcall),
    .tp_new = make_noting,
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse_carried,
    .tp_dealloc = (destructor)dealloc_carried,
    .tp_getattro = (getattrofunc)carried_attribute,
    .tp_members = carried_members,
};

#include "around.h"
#include "traps.h"

/* run(stack, key, function, *args, **kwargs): call a function with a stack in force. */
static PyObject *run(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    if (count < 3) return PyErr_Format(PyExc_TypeError, "run() takes a stack, a key and a function");
    PyObject *before = watching ? mark_inside(args[0]) : NULL;
    PyObject *result = call_in(args[0], args[1], args[2], args + 3, count - 3, names);
    if (before) unmark_inside(before);
    return result;
}

/* undispatched(function, *args, **kwargs) */
static PyObject *undispatched(PyObject *module, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    if (count < 1) return PyErr_Format(PyExc_TypeError, "undispatched() takes a function");
    return call_undispatched(args[0], args + 1, count - 1, names);
}

/* quietly(function, *args): as undispatched(), and no tool is told. */
static PyObject *quietly(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    if (count < 1) return PyErr_Format(PyExc_TypeError, "quietly() takes a function");
    return call_quietly(args[0], args + 1, count - 1, NULL);
}

/* in_collection(function, *args): for gc.callbacks, where an error can only be printed. At the
 * end of the stack there is no room for the function; the next collection comes soon. */
static PyObject *in_collection(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    PyObject *result = quietly(module, args, count);
    if (result || !PyErr_ExceptionMatches(PyExc_RecursionError)) return result;
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *be_inside(PyObject *module, PyObject *stack) {
    return watching ? mark_inside(stack) : Py_NewRef(Py_None);
}

static PyObject *watch(PyObject *module, PyObject *more) {
    long count = PyLong_AsLong(more);
    if (count == -1 && PyErr_Occurred()) return NULL;
    watching += (int)count;
    Py_RETURN_NONE;
}

static PyObject *leave_outside(PyObject *module, PyObject *more) {
    long count = PyLong_AsLong(more);
    if (count == -1 && PyErr_Occurred()) return NULL;
    calls_outside += (int)count;
    Py_RETURN_NONE;
}

/* ---- the module ------------------------------------------------------------------------------- */

static PyObject *set_up(PyObject *module, PyObject *args) {
    PyObject *stack, *key;
    if (!PyArg_ParseTuple(args, "O!O!:set_up", &PyContextVar_Type, &stack, &PyContextVar_Type, &key)) return NULL;
    Py_XSETREF(stack_variable, Py_NewRef(stack));
    Py_XSETREF(key_variable, Py_NewRef(key));
    Py_RETURN_NONE;
}

static PyObject *set_up_engine(PyObject *module, PyObject *args) {
    PyObject *function, *keeper, *tell;
    if (!PyArg_ParseTuple(args, "OOO:set_up_engine", &function, &keeper, &tell)) return NULL;
    Py_XSETREF(lost, Py_NewRef(tell));
    Py_XSETREF(resolver, Py_NewRef(function));
    Py_XSETREF(own_cache, Py_NewRef(keeper));
    Py_RETURN_NONE;
}

/* Reads only, before the first write to any of these fields. */
static int check_fields(void) {
    struct callable_cache *special = special_callables();
    PyObject *builtins = PyEval_GetBuiltins();
    PyObject *len = PyDict_GetItemString(builtins, "len"), *isinstance = PyDict_GetItemString(builtins, "isinstance");
    if (len && isinstance && special->len == len && special->isinstance == isinstance && fields_are_known()) return 0;
    PyErr_SetString(PyExc_ImportError, "the fields of this CPython are not where they are expected: it is of "
                                       "another release than that which overlay was built for");
    return -1;
}

/* Objects of a class cache results: start, or stop, to give each stack its own of each. */
static PyObject *keep_apart(PyObject *module, PyObject *args) {
    PyObject *cls;
    int apart;
    if (!PyArg_ParseTuple(args, "O!p:keep_apart", &PyType_Type, &cls, &apart)) return NULL;
    CallSlot *slot = call_slot_of((PyTypeObject *)cls);
    if (apart) {
        if (!(slot = exchange_call((PyTypeObject *)cls))) return NULL;
        slot->caches = 1;
    } else if (slot) leave_call(slot);
    Py_RETURN_NONE;
}

/* ---- functions that the interpreter enters through specialised instructions
 * --------------------- */

/* From 3.13 on it enters __init__ directly, for classes with the usual tp_alloc; on 3.14 the
 * getters of properties, for classes with a version. Such functions are found in existing
 * classes, in classes that are made below them, and where they are assigned later. */
static PyObject *usual_alloc(PyTypeObject *cls, Py_ssize_t count) { return PyType_GenericAlloc(cls, count); }

static int class_watcher = -1; /* of namespaces of classes, and of the dicts of their subclasses */
static PyObject *met;          /* (target, class, is __init__), until take_met() */
static PyObject *no_class;     /* a dead weak reference */
static PyObject *list_subclasses;

static void call_init_of(PyTypeObject *cls, int called) {
    allocfunc from = called ? PyType_GenericAlloc : usual_alloc;
    if (cls->tp_alloc == from) cls->tp_alloc = called ? usual_alloc : PyType_GenericAlloc;
    PyType_Modified(cls);
}

static inline int is_made(PyObject *cls) {
    return PyType_Check(cls) && PyType_HasFeature((PyTypeObject *)cls, Py_TPFLAGS_HEAPTYPE);
}

static void call_init_below(PyTypeObject *cls) {
    call_init_of(cls, 1);
    PyObject *reference, *subclasses = *subclasses_of(cls);
    Py_ssize_t at = 0;
    while (subclasses && PyDict_Next(subclasses, &at, NULL, &reference)) {
        PyObject *below = ((PyWeakReference *)reference)->wr_object;
        if (is_made(below)) call_init_below((PyTypeObject *)below);
    }
}

static void leave_without_version(PyTypeObject *cls, int without) {
    set_versions_used(cls, without);
    PyType_Modified(cls);
}

static int watch_class_(PyTypeObject *cls) {
    PyObject **subclasses = subclasses_of(cls);
    if (!*subclasses && !(*subclasses = PyDict_New())) return -1;
    /* The dict would be dropped when it becomes empty, and another one made later: it never is. */
    if (PyDict_SetItem(*subclasses, Py_None, no_class) < 0) return -1;
    if (PyDict_Watch(class_watcher, *subclasses) < 0) return -1;
    return PyDict_Watch(class_watcher, cls->tp_dict);
}

/* Handle an attribute of a class that holds a target which the interpreter may enter. */
static int meet(PyTypeObject *cls, PyObject *key, PyObject *value) {
    PyObject *target = NULL, *getter = NULL;
    int is_init = PyFunction_Check(value);
    if (is_init) {
        if (PyUnicode_CompareWithASCIIString(key, "__init__") == 0) target = value;
    } else if (ENTERS_GETTERS && Py_IS_TYPE(value, &PyProperty_Type)) {
        if (!(getter = PyObject_GetAttrString(value, "fget"))) return -1;
        if (PyFunction_Check(getter)) target = getter;
    }
    int done = 0;
    if (target && found(target)) {
        if (!cls) return 1;
        PyObject *row = Py_BuildValue("(OOi)", target, cls, is_init);
        done = row ? PyList_Append(met, row) : -1;
        Py_XDECREF(row);
        if (is_init) call_init_below(cls);
        else leave_without_version(cls, 1);
    }
    Py_XDECREF(getter);
    return done;
}

static int meet_new(PyTypeObject *cls) {
    if (watch_class_(cls) < 0) return -1;
    /* a new class has the usual tp_alloc, even below one that has ours */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cls->tp_bases); i++) {
        if (((PyTypeObject *)PyTuple_GET_ITEM(cls->tp_bases, i))->tp_alloc == usual_alloc) call_init_below(cls);
    }
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(cls->tp_dict, &at, &key, &value)) {
        if (PyUnicode_Check(key) && meet(cls, key, value) < 0) return -1;
    }
    return 0;
}

/* The class of a namespace, borrowed. Runs C code of the interpreter only: a watched dict is
 * changing. */
static PyTypeObject *class_of_namespace(PyObject *namespace) {
    PyTypeObject *cls = NULL;
    PyObject *seen = PySet_New(NULL), *left = PyList_New(0);
    int failed = !seen || !left || PyList_Append(left, (PyObject *)&PyBaseObject_Type) < 0;
    for (Py_ssize_t i = 0; !failed && !cls && i < PyList_GET_SIZE(left); i++) {
        PyObject *below = PyObject_CallOneArg(list_subclasses, PyList_GET_ITEM(left, i));
        failed = !below;
        for (Py_ssize_t k = 0; !failed && !cls && k < PyList_GET_SIZE(below); k++) {
            PyObject *each = PyList_GET_ITEM(below, k), *address = PyLong_FromVoidPtr(each);
            int known = address ? PySet_Contains(seen, address) : -1;
            failed = known < 0 || (!known && (PySet_Add(seen, address) < 0 || PyList_Append(left, each) < 0));
            Py_XDECREF(address);
            if (is_made(each) && ((PyTypeObject *)each)->tp_dict == namespace) cls = (PyTypeObject *)each;
        }
        Py_XDECREF(below);
    }
    Py_XDECREF(seen);
    Py_XDECREF(left);
    return failed ? NULL : cls;
}

static int class_changed(PyDict_WatchEvent event, PyObject *dict, PyObject *key, PyObject *value) {
    if ((event != PyDict_EVENT_ADDED && event != PyDict_EVENT_MODIFIED) || !value || !intercepted.used) return 0;
    if (PyUnicode_Check(key)) {
        int met_one = meet(NULL, key, value);
        if (met_one <= 0) return met_one;
        PyTypeObject *cls = class_of_namespace(dict);
        if (cls) return meet(cls, key, value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (!PyWeakref_Check(value)) return 0;
    PyObject *cls = ((PyWeakReference *)value)->wr_object; /* new: it does not go meanwhile */
    return is_made(cls) ? meet_new((PyTypeObject *)cls) : 0;
}

static int begin_watching(void) {
    if (class_watcher >= 0) return 0;
    PyObject *nobody = PySet_New(NULL);
    no_class = nobody ? PyWeakref_NewRef(nobody, NULL) : NULL;
    Py_XDECREF(nobody);
    list_subclasses = PyObject_GetAttrString((PyObject *)&PyType_Type, "__subclasses__");
    met = PyList_New(0);
    if (!no_class || !list_subclasses || !met) return -1;
    class_watcher = PyDict_AddWatcher(class_changed);
    return class_watcher < 0 ? -1 : 0;
}

static PyObject *watch_class(PyObject *module, PyObject *cls) {
    if (begin_watching() < 0 || (is_made(cls) && watch_class_((PyTypeObject *)cls) < 0)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *take_met(PyObject *module, PyObject *nothing) {
    if (begin_watching() < 0) return NULL;
    PyObject *taken = met, *next = PyList_New(0);
    if (!next) return NULL;
    met = next;
    return taken;
}

static PyObject *call_init(PyObject *module, PyObject *args) {
    PyTypeObject *cls;
    int called;
    if (!PyArg_ParseTuple(args, "O!p:call_init", &PyType_Type, &cls, &called)) return NULL;
    if (is_made((PyObject *)cls)) call_init_of(cls, called);
    Py_RETURN_NONE;
}

static PyObject *without_version(PyObject *module, PyObject *args) {
    PyTypeObject *cls;
    int without;
    if (!PyArg_ParseTuple(args, "O!p:without_version", &PyType_Type, &cls, &without)) return NULL;
    if (is_made((PyObject *)cls)) leave_without_version(cls, without);
    Py_RETURN_NONE;
}

static PyObject *interception_of(PyObject *module, PyObject *target) {
    Interception *it = found(target);
    return Py_NewRef(it ? (PyObject *)it : Py_None);
}

static PyObject *installed(PyObject *module, PyObject *nothing) { return PyLong_FromSize_t(intercepted.used); }

static PyMethodDef methods[] = {
    {"set_up", set_up, METH_VARARGS, "set_up(stack, key): the context variables."},
    {"set_up_engine", set_up_engine, METH_VARARGS,
     "set_up_engine(resolver, own, lost): what resolves calls, what gives a stack's own object in the place of "
     "another, and what is told of calls without a stack in a thread that is inside one."},
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL | METH_KEYWORDS,
     "run(stack, key, function, *args, **kwargs): call the function with a stack in force."},
    {"undispatched", (PyCFunction)(void (*)(void))undispatched, METH_FASTCALL | METH_KEYWORDS,
     "undispatched(function, *args, **kwargs): call the function; no call that it makes is dispatched."},
    {"in_collection", (PyCFunction)(void (*)(void))in_collection, METH_FASTCALL,
     "in_collection(function, *args): as quietly(), and a full stack is no error."},
    {"quietly", (PyCFunction)(void (*)(void))quietly, METH_FASTCALL,
     "quietly(function, *args): as undispatched(), and no tool is told."},
    {"watch", watch, METH_O, "watch(more): how many stacks more ask for calls that are lost."},
    {"be_inside", be_inside, METH_O, "be_inside(stack): the thread is inside a stack; what it was inside before."},
    {"leave_outside", leave_outside, METH_O, "leave_outside(more): how many calls more are meant to have no stack."},
    {"set_up_call_next", set_up_call_next, METH_VARARGS,
     "set_up_call_next(call_next, resolver): the function is called here, and what resolves it."},
    {"keep_apart", keep_apart, METH_VARARGS, "keep_apart(cls, apart): whether each stack has objects of a class of its own."},
    {"watch_class", watch_class, METH_O, "watch_class(cls): meet targets where they are assigned to it, or below it."},
    {"take_met", take_met, METH_NOARGS,
     "take_met(): targets that were met since, their classes, and whether they are its __init__."},
    {"call_init", call_init, METH_VARARGS, "call_init(cls, called): whether __init__ of a class is always called."},
    {"without_version", without_version, METH_VARARGS,
     "without_version(cls, without): whether no instruction is specialised for the attributes of a class."},
    {"interception_of", interception_of, METH_O, "The Interception of a target that is installed, or None."},
    {"clears_weak_references", clears_weak_references, METH_VARARGS,
     "clears_weak_references(cls, python): whether those to an instance are cleared when it goes; python: any class that "
     "a class statement has made."},
    {"callee_of", callee_of, METH_O, "callee_of(around): what an Around stands for."},
    {"installed", installed, METH_NOARGS, "How many targets are installed."},
    {"set_up_traps", set_up_traps, METH_VARARGS,
     "set_up_traps(prepare, disable): what is called with code that starts in a stack; sys.monitoring.DISABLE."},
    {"other_traps", other_traps, METH_NOARGS, "other_traps(): code is prepared anew where it starts."},
    {"set_operator", set_operator, METH_VARARGS, "set_operator(number, interception): of an operator, or None."},
    {"keep_tools_of", keep_tools_of, METH_O, "Have no tool forgotten that is told of the instructions of a code object."},
    {"set_sites", set_sites, METH_VARARGS,
     "set_sites(code, rows, ours): its instructions, as (unit, shape, operator, argument, depth)."},
    {"prepare_frames", prepare_frames, METH_NOARGS, "prepare_frames(): prepare the code of all frames of this thread."},
    {"trap", (PyCFunction)(void (*)(void))trap, METH_FASTCALL, "trap(code, offset): before an instruction."},
    {"started", (PyCFunction)(void (*)(void))started, METH_FASTCALL, "started(code, offset, ...): code starts or goes on."},
    {NULL},
};

static int execute(PyObject *module) {
    if (check_fields() < 0) return -1;
    if (!inside_name && !(inside_name = PyUnicode_InternFromString("overlay.contexts.current"))) return -1;
    if (PyType_Ready(&Noting_Type) < 0 || PyModule_AddObjectRef(module, "Noting", (PyObject *)&Noting_Type) < 0) return -1;
    if (PyType_Ready(&Trap_Type) < 0) return -1;
    if (PyType_Ready(&Interception_Type) < 0 || PyType_Ready(&Carried_Type) < 0) return -1;
    if (PyType_Ready(&Place_Type) < 0 || PyModule_AddObjectRef(module, "Place", (PyObject *)&Place_Type) < 0) return -1;
    if (PyModule_AddObjectRef(module, "Carried", (PyObject *)&Carried_Type) < 0) return -1;
    if (PyType_Ready(&Around_Type) < 0 || PyModule_AddObjectRef(module, "Around", (PyObject *)&Around_Type) < 0) return -1;
    if (PyType_Ready(&Pair_Type) < 0) return -1;
    if (PyType_Ready(&Key_Type) < 0 || PyModule_AddObjectRef(module, "Key", (PyObject *)&Key_Type) < 0) return -1;
    if (PyType_Ready(&Callees_Type) < 0 || PyModule_AddObjectRef(module, "Callees", (PyObject *)&Callees_Type) < 0) return -1;
    if (PyType_Ready(&Run_Type) < 0 || PyModule_AddObjectRef(module, "Run", (PyObject *)&Run_Type) < 0) return -1;
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
