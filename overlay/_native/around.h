/* Calls in a stack with plugins.
 *
 * Before an instruction makes a call in such a stack (traps.h), the callee is replaced by its
 * stand-in: an Around, which calls the wrappers that the plugins have put around the call. Innermost is a
 * Run, which calls the callee in the stack. The plugins' own functions run undispatched, and
 * without events for tools; a Run restores both for the callee.
 */
#include "fields.h"

/* ---- Around: replacement of a callee
 * ------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    PyObject *callee; /* first: the key of the table */
    vectorcallfunc vectorcall;
    PyObject *instead; /* from the plugins; NULL: the callee is called unchanged */
    PyObject *code;    /* of a function: its code when the plugins were asked */
    uintptr_t form;    /* form_of(callee) then */
    PyObject *shown;   /* for a callee in C: its replacement on the stack; NULL: this object */
} Around;

/* A number that changes when the program changes what a call of the callee runs: the code of a
 * function, and of a class the slots that make its objects. */
static inline uintptr_t form_of(PyObject *callee) {
    if (PyFunction_Check(callee)) return (uintptr_t)PyFunction_GET_CODE(callee);
    if (!PyType_Check(callee)) return 0;
    PyTypeObject *cls = (PyTypeObject *)callee;
    return (uintptr_t)Py_TYPE(cls)->tp_call + 3 * (uintptr_t)cls->tp_new + 5 * (uintptr_t)cls->tp_init;
}

/* Call a function of ours or of a plugin: its calls are not dispatched, and tools get no events. */
static PyObject *call_quietly(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names) {
    int outside = told_outside;
    told_outside = see_events(1);
    PyObject *result = call_undispatched(function, args, nargsf, names);
    see_events(told_outside);
    told_outside = outside;
    return result;
}

static PyObject *call_around(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Around *it = (Around *)self;
    if (!it->instead) return PyObject_Vectorcall(it->callee, args, nargsf, names);
    Py_INCREF(it);
    PyObject *result = NULL;
#if COUNTS_LEVELS
    if (check_room() < 0) goto done;
    grant_levels(8); /* levels of C calls that a native call does not use */
#endif
    result = call_quietly(it->instead, args, nargsf, names);
#if COUNTS_LEVELS
    grant_levels(-8);
done:
#endif
    Py_DECREF(it);
    return result;
}

static int traverse_around(Around *it, visitproc visit, void *arg) {
    Py_VISIT(it->callee);
    Py_VISIT(it->instead);
    Py_VISIT(it->code);
    Py_VISIT(it->shown);
    return 0;
}

static int clear_around(Around *it) {
    Py_CLEAR(it->instead);
    return 0;
}

static void dealloc_around(Around *it) {
    PyObject_GC_UnTrack(it);
    Py_XDECREF(it->callee);
    Py_XDECREF(it->instead);
    Py_XDECREF(it->code);
    Py_XDECREF(it->shown);
    PyObject_GC_Del(it);
}

static PyObject *around_attribute(Around *it, PyObject *name) { return PyObject_GetAttr(it->callee, name); }
static PyObject *show_around(Around *it) { return PyObject_Repr(it->callee); }

static PyTypeObject Around_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Around",
    .tp_doc = "Stands for a callee in a stack with plugins.",
    .tp_basicsize = sizeof(Around),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_vectorcall_offset = offsetof(Around, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse_around,
    .tp_clear = (inquiry)clear_around,
    .tp_dealloc = (destructor)dealloc_around,
    .tp_getattro = (getattrofunc)around_attribute,
    .tp_repr = (reprfunc)show_around,
};

static PyObject *callee_of(PyObject *module, PyObject *around) {
    if (!Py_IS_TYPE(around, &Around_Type)) return PyErr_Format(PyExc_TypeError, "%R stands for nothing", around);
    return Py_NewRef(((Around *)around)->callee);
}

/* ---- replacements of C functions that tools see
 * --------------------------------------------------- */

/* Tools get the callee of each call, and profilers recognize functions and methods in C by their
 * exact classes. So such a callee is replaced by an object of its class that differs only in its
 * vectorcall. It is never freed. */
typedef struct {
    PyObject_HEAD
    PyObject *of, *other; /* key in a table, and its partner: callee and shown */
} Pair;

static PyTypeObject Pair_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Pair",
    .tp_basicsize = sizeof(Pair),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

static Table shown_by_callee, callee_by_shown;

static int add_pair(Table *table, PyObject *of, PyObject *other) {
    Pair *pair = PyObject_New(Pair, &Pair_Type);
    if (!pair) return -1;
    pair->of = Py_NewRef(of);
    pair->other = Py_NewRef(other);
    int done = add(table, pair); /* the table holds it */
    Py_DECREF(pair);
    return done;
}

static PyObject *call_shown(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

static inline int can_be_shown(PyObject *callee) {
    return Py_IS_TYPE(callee, &PyCFunction_Type) || Py_IS_TYPE(callee, &PyMethodDescr_Type);
}

/* The replacement of a callee in C; a new reference. */
static PyObject *show(PyObject *callee) {
    Pair *known = in_table(&shown_by_callee, callee);
    if (known) return Py_NewRef(known->other);
    PyObject *shown;
    if (Py_IS_TYPE(callee, &PyCFunction_Type)) {
        PyCFunctionObject *function = (PyCFunctionObject *)callee;
        Interception *it = found(callee);
        shown = PyCFunction_NewEx(it ? it->original_definition : function->m_ml, function->m_self, function->m_module);
        if (shown) ((PyCFunctionObject *)shown)->vectorcall = call_shown;
    } else {
        shown = PyDescr_NewMethod(PyDescr_TYPE(callee), ((PyMethodDescrObject *)callee)->d_method);
        if (shown) ((PyMethodDescrObject *)shown)->vectorcall = call_shown;
    }
    if (!shown) return NULL;
    if (add_pair(&shown_by_callee, callee, shown) < 0 || add_pair(&callee_by_shown, shown, callee) < 0) Py_CLEAR(shown);
    return shown;
}

/* ---- weak references to callees
 * ------------------------------------------------------------------- */

/* clears_weak_references(cls, python): whether the weak references to an instance are cleared when it
 * goes. python: a class that a class statement has made.
 *
 * The deallocator of such a class leaves them to the first base of another kind that can be
 * referred to. The classes that mypyc compiles have a list of them, which the interpreter manages,
 * and never clear it (mypyc/mypyc#1102): a reference that outlives its object refers to freed
 * memory. A deallocator in C that clears a managed list cannot be told from one that does not. */
static PyObject *clears_weak_references(PyObject *module, PyObject *args) {
    PyTypeObject *cls, *python;
    if (!PyArg_ParseTuple(args, "O!O!:clears_weak_references", &PyType_Type, &cls, &PyType_Type, &python)) return NULL;
    while (cls && cls->tp_dealloc == python->tp_dealloc) cls = cls->tp_base;
    return PyBool_FromLong(!cls || !PyType_HasFeature(cls, Py_TPFLAGS_MANAGED_WEAKREF));
}

/* ---- Callees: the stand-ins of a stack
 * ------------------------------------------------------------- */

/* Owned by the stack. Objects that may outlive the stack, such as a memo, hold only the key,
 * through which they find it. */
typedef struct Callees {
    PyObject_HEAD
    PyObject *key;
    PyObject *meet; /* meet(callee) returns its stand-in */
    Table known;    /* Arounds by their callees */
} Callees;

/* Identity of a stack. */
typedef struct {
    PyObject_HEAD
    Callees *callees; /* borrowed; NULL where the stack has no plugins */
} Key;

static PyTypeObject Key_Type, Callees_Type;

static inline Callees *callees_of(PyObject *key) { return Py_IS_TYPE(key, &Key_Type) ? ((Key *)key)->callees : NULL; }

/* Held: its `shown` has replaced the callee of the next call. */
static _Thread_local Around *ahead;

static PyObject *call_shown(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    if (ahead && ahead->shown == self) {
        Around *around = ahead;
        ahead = NULL;
        PyObject *result = call_around((PyObject *)around, args, nargsf, names);
        Py_DECREF(around);
        return result;
    }
    PyObject *callee = ((Pair *)in_table(&callee_by_shown, self))->other, *key;
    if (PyContextVar_Get(key_variable, NULL, &key) < 0) return NULL;
    Callees *callees = callees_of(key);
    PyObject *around = callees ? Py_XNewRef((PyObject *)in_table(&callees->known, callee)) : NULL;
    Py_DECREF(key);
    if (!around) around = Py_NewRef(callee); /* dropped, or called elsewhere */
    PyObject *result = PyObject_Vectorcall(around, args, nargsf, names);
    Py_DECREF(around);
    return result;
}

/* The stand-in of a callee, a new reference: the callee itself where no plugin wraps it. */
static PyObject *stand_in(Callees *it, PyObject *callee) {
    PyObject *method = NULL, *other;
    if (PyMethod_Check(callee) && PyFunction_Check(PyMethod_GET_FUNCTION(callee))) {
        method = callee;
        callee = PyMethod_GET_FUNCTION(method);
    }
    Around *known = in_table(&it->known, callee);
    if (known && known->form == form_of(callee)) {
        other = Py_NewRef(known->instead ? (PyObject *)known : callee);
    } else {
        Py_INCREF(it);
        other = it->meet ? call_quietly(it->meet, &callee, 1, NULL) : Py_NewRef(callee);
        Py_DECREF(it);
    }
    if (!other || !method) return other;
    PyObject *bound = other == callee ? Py_NewRef(method) : PyMethod_New(other, PyMethod_GET_SELF(method));
    Py_DECREF(other);
    return bound;
}

static PyObject *make_key(PyTypeObject *cls, PyObject *args, PyObject *named) { return cls->tp_alloc(cls, 0); }

static PyTypeObject Key_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Key",
    .tp_doc = "Key(): tells a stack from others.",
    .tp_basicsize = sizeof(Key),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = make_key,
};

static PyObject *make_callees(PyTypeObject *cls, PyObject *args, PyObject *named) {
    PyObject *key, *meet;
    if (!PyArg_ParseTuple(args, "O!O:Callees", &Key_Type, &key, &meet)) return NULL;
    if (((Key *)key)->callees) return PyErr_Format(PyExc_ValueError, "the key has callees already");
    Callees *it = (Callees *)cls->tp_alloc(cls, 0);
    if (!it) return NULL;
    it->key = Py_NewRef(key);
    it->meet = Py_NewRef(meet);
    ((Key *)key)->callees = it;
    return (PyObject *)it;
}

/* put(callee, instead, keep): make the stand-in of a callee, cached or not. */
static PyObject *put_around(Callees *it, PyObject *args) {
    PyObject *callee, *instead;
    int keep;
    if (!PyArg_ParseTuple(args, "OOp:put", &callee, &instead, &keep)) return NULL;
    Around *around = PyObject_GC_New(Around, &Around_Type);
    if (!around) return NULL;
    around->callee = Py_NewRef(callee);
    around->vectorcall = call_around;
    around->instead = instead == Py_None ? NULL : Py_NewRef(instead);
    around->code = PyFunction_Check(callee) ? Py_NewRef(PyFunction_GET_CODE(callee)) : NULL;
    around->form = form_of(callee);
    around->shown = keep && around->instead && can_be_shown(callee) ? show(callee) : NULL;
    PyObject_GC_Track(around);
    if (PyErr_Occurred()) {
        Py_DECREF(around);
        return NULL;
    }
    if (keep && in_table(&it->known, callee)) take_out(&it->known, callee);
    PyObject *result = NULL;
    if (!keep || add(&it->known, around) == 0) result = Py_NewRef(around->instead ? (PyObject *)around : callee);
    Py_DECREF(around);
    return result;
}

static PyObject *meet_callee(Callees *it, PyObject *callee) { return stand_in(it, callee); }

static PyObject *drop_callee(Callees *it, PyObject *callee) {
    if (in_table(&it->known, callee)) take_out(&it->known, callee);
    Py_RETURN_NONE;
}

static int traverse_callees(Callees *it, visitproc visit, void *arg) {
    Py_VISIT(it->meet);
    for (size_t i = 0; i < it->known.capacity; i++) Py_VISIT(it->known.slots[i]);
    return 0;
}

static int clear_callees(Callees *it) {
    if (((Key *)it->key)->callees == it) ((Key *)it->key)->callees = NULL;
    Py_CLEAR(it->meet);
    take_all_out(&it->known);
    return 0;
}

static void dealloc_callees(Callees *it) {
    PyObject_GC_UnTrack(it);
    clear_callees(it);
    Py_DECREF(it->key);
    Py_TYPE(it)->tp_free(it);
}

static PyMethodDef callees_methods[] = {
    {"put", (PyCFunction)put_around, METH_VARARGS,
     "put(callee, instead, keep): what is called in the place of a callee: itself where `instead` is None."},
    {"stand_in", (PyCFunction)meet_callee, METH_O, "stand_in(callee): what is called in its place, asked for if need be."},
    {"drop", (PyCFunction)drop_callee, METH_O, "drop(callee): ask anew about it."},
    {NULL},
};
static PyTypeObject Callees_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Callees",
    .tp_doc = "Callees(key, meet): what the stack of a key calls in the place of callees; meet(callee) says what.",
    .tp_basicsize = sizeof(Callees),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = make_callees,
    .tp_traverse = (traverseproc)traverse_callees,
    .tp_clear = (inquiry)clear_callees,
    .tp_dealloc = (destructor)dealloc_callees,
    .tp_methods = callees_methods,
};

/* ---- Run: calls a callee in a stack with plugins
 * -------------------------------------------------- */

/* Starts with the layout of a Carried, but holds a weak reference to the stack, since a memo
 * that outlives the stack may hold it. Without the stack it calls the callee unchanged. */
typedef struct {
    PyObject_HEAD
    PyObject *function;
    vectorcallfunc vectorcall;
    PyObject *stack, *key;
    PyObject *enter; /* enter(args, kwargs) returns a replacement, or None; NULL: none */
    unsigned long positions; /* bits of the arguments that the callee calls */
    PyObject *named;         /* names of arguments that it calls, as a tuple; or NULL */
    int makes;               /* it is a class with __new__ or __init__ of the program */
} Run;

/* type.__call__, with the stand-ins of __new__ and __init__. */
static PyObject *construct(Callees *callees, PyTypeObject *cls, PyObject *const *args, size_t nargsf, PyObject *names) {
    PyObject *new = of_class(cls, "__new__"), *tuple = NULL, *dict = NULL, *made = NULL, *other, *result = NULL;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf), all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject **given = PyMem_New(PyObject *, all + 1), *own = NULL;
    if (!given) return PyErr_NoMemory();
    if (all) memcpy(given + 1, args, all * sizeof *given);
    if (as_python(args, count, names, &tuple, &dict) < 0) goto done;
    PyObject *named = PyDict_GET_SIZE(dict) ? dict : NULL;
    if (new && PyFunction_Check(new)) own = Py_NewRef(new);
    else if (new && Py_IS_TYPE(new, &PyStaticMethod_Type) && !(own = PyObject_GetAttrString(new, "__func__"))) goto done;
    if (own && PyFunction_Check(own)) {
        given[0] = (PyObject *)cls;
        if (!(other = stand_in(callees, own))) goto done;
        made = PyObject_Vectorcall(other, given, count + 1, names);
        Py_DECREF(other);
    } else if (cls->tp_new) made = cls->tp_new(cls, tuple, named);
    else PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", cls->tp_name);
    if (!made || !PyObject_TypeCheck(made, cls)) {
        result = Py_XNewRef(made);
        goto done;
    }
    PyObject *init = of_class(Py_TYPE(made), "__init__");
    if (init && PyFunction_Check(init)) {
        given[0] = made;
        if (!(other = stand_in(callees, init))) goto done;
        result = PyObject_Vectorcall(other, given, count + 1, names);
        Py_DECREF(other);
        if (result && result != Py_None) {
            PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
            Py_CLEAR(result);
        }
        if (result) Py_SETREF(result, Py_NewRef(made));
    } else if (!Py_TYPE(made)->tp_init || Py_TYPE(made)->tp_init(made, tuple, named) == 0) result = Py_NewRef(made);
done:
    Py_XDECREF(own);
    Py_XDECREF(made);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    PyMem_Free(given);
    return result;
}

/* The arguments, with stand-ins for those that the callee calls; NULL with an error. Each is a
 * new reference. */
static PyObject **handed_over(Run *it, Callees *callees, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject **given = PyMem_New(PyObject *, all + 1);
    if (!given) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < all; i++) {
        int calls = i < count ? i < 64 && it->positions >> i & 1
                              : it->named && PySequence_Contains(it->named, PyTuple_GET_ITEM(names, i - count)) == 1;
        given[i] = calls && PyCallable_Check(args[i]) ? stand_in(callees, args[i]) : Py_NewRef(args[i]);
        if (given[i]) continue;
        while (i--) Py_DECREF(given[i]);
        PyMem_Free(given);
        return NULL;
    }
    return given;
}

static PyObject *run_callee(Run *it, PyObject *const *args, size_t nargsf, PyObject *names) {
    Callees *callees = (Callees *)Py_XNewRef((PyObject *)callees_of(it->key));
    Py_ssize_t count = PyVectorcall_NARGS(nargsf), all = count + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *function = NULL, *result;
    if (it->enter) {
        PyObject *tuple, *dict;
        if (as_python(args, count, names, &tuple, &dict) < 0) goto failed;
        PyObject *asked[] = {tuple, dict};
        function = call_quietly(it->enter, asked, 2, NULL);
        Py_DECREF(tuple);
        Py_DECREF(dict);
        if (!function) goto failed;
        if (function == Py_None) Py_CLEAR(function);
    }
    if (function) result = PyObject_Vectorcall(function, args, nargsf, names);
    else if (!callees) result = PyObject_Vectorcall(it->function, args, nargsf, names);
    else if (it->makes) result = construct(callees, (PyTypeObject *)it->function, args, nargsf, names);
    else if (it->positions || it->named) {
        PyObject **given = handed_over(it, callees, args, count, names);
        if (!given) goto failed;
        result = PyObject_Vectorcall(it->function, given, count, names);
        for (Py_ssize_t i = 0; i < all; i++) Py_DECREF(given[i]);
        PyMem_Free(given);
    } else result = PyObject_Vectorcall(it->function, args, nargsf, names);
    Py_XDECREF(function);
    Py_XDECREF(callees);
    return result;
failed:
    Py_XDECREF(callees);
    return NULL;
}

static PyObject *call_run(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
    Run *it = (Run *)Py_NewRef(self);
    InForce in;
    PyObject *result = NULL, *stack = Py_NewRef(((PyWeakReference *)it->stack)->wr_object);
    PyObject *key = stack == Py_None ? Py_None : it->key;
    PyObject *before = watching && stack != Py_None ? mark_inside(stack) : NULL;
    if (begin_in(&in, stack, key) == 0) result = run_callee(it, args, nargsf, names);
    result = end_in(&in, result);
    if (before) unmark_inside(before);
    Py_DECREF(stack);
    Py_DECREF(it);
    return result;
}

/* Run(function, stack, key, enter=None, makes=False, positions=(), named=()) */
static PyObject *make_run(PyTypeObject *cls, PyObject *args, PyObject *given) {
    PyObject *function, *stack, *key, *enter = Py_None, *positions = NULL, *named = NULL;
    int makes = 0;
    static char *names[] = {"function", "stack", "key", "enter", "makes", "positions", "named", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, given, "OOO|OpO!O!:Run", names, &function, &stack, &key, &enter, &makes,
                                     &PyTuple_Type, &positions, &PyTuple_Type, &named)) return NULL;
    if (makes && !PyType_Check(function)) return PyErr_Format(PyExc_TypeError, "no class: %R", function);
    Run *it = (Run *)cls->tp_alloc(cls, 0);
    if (!it) return NULL;
    it->vectorcall = call_run;
    it->function = Py_NewRef(function);
    it->key = Py_NewRef(key);
    if (!(it->stack = PyWeakref_NewRef(stack, NULL))) {
        Py_DECREF(it);
        return NULL;
    }
    it->enter = enter == Py_None ? NULL : Py_NewRef(enter);
    it->makes = makes;
    it->named = named && PyTuple_GET_SIZE(named) ? Py_NewRef(named) : NULL;
    for (Py_ssize_t i = 0; positions && i < PyTuple_GET_SIZE(positions); i++) {
        long place = PyLong_AsLong(PyTuple_GET_ITEM(positions, i));
        if (place < 0 || place > 63) {
            Py_DECREF(it);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no position of an argument: %ld", place);
        }
        it->positions |= 1ul << place;
    }
    return (PyObject *)it;
}

static int traverse_run(Run *it, visitproc visit, void *arg) {
    Py_VISIT(it->enter);
    Py_VISIT(it->named);
    return traverse_carried((Carried *)it, visit, arg);
}

static int clear_run(Run *it) {
    Py_CLEAR(it->enter);
    return 0;
}

static void dealloc_run(Run *it) {
    PyObject_GC_UnTrack(it);
    Py_XDECREF(it->enter);
    Py_XDECREF(it->named);
    dealloc_carried((Carried *)it);
}

static PyTypeObject Run_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Run",
    .tp_doc = "Run(function, stack, key, enter=None, makes=False, positions=(), named=()): the function, called in a "
              "stack with plugins; enter(args, kwargs) gives what is called instead, or None; makes: it is a class, "
              "of which __new__ and __init__ are asked about; the arguments at the positions, and those with these "
              "names, are called by it.",
    .tp_basicsize = sizeof(Run),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Run, vectorcall),
    .tp_new = make_run,
    .tp_call = PyVectorcall_Call,
    .tp_traverse = (traverseproc)traverse_run,
    .tp_clear = (inquiry)clear_run,
    .tp_dealloc = (destructor)dealloc_run,
    .tp_getattro = (getattrofunc)carried_attribute,
    .tp_members = carried_members,
};
