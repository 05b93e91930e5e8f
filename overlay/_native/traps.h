/* Hooks before instructions: those that apply operators, and calls in a stack with plugins.
 *
 * When code starts or resumes in a stack, its requested instructions are instrumented through the
 * public `sys.monitoring`: the interpreter calls `trap` before each of them, and then runs it in
 * its unspecialised form. Where a method matches the operands' types, `trap` replaces an operand
 * on the frame's stack by a Trap. The instruction then applies its operator to the Trap, which
 * calls the method. Before a call, the callee is replaced by its stand-in (around.h). No code is
 * changed, no frame is moved, and the stack gets no deeper.
 */
#include "fields.h"

/* The operands of an instruction on the stack, from the top down. */
enum {
    NOTHING,   /* not instrumented by us */
    INERT,     /* instrumented only to keep it unspecialised */
    BINARY,    /* right, left */
    UNARY,     /* operand */
    CONTAINS,  /* container, element */
    SET,       /* key, container, value */
    GET_SLICE, /* stop, start, container */
    SET_SLICE, /* stop, start, container, value */
    TRUTH,     /* operand, whose truth is tested and then negated */
    IDENTITY,  /* right, left; the instruction may negate */
    NEGATION,  /* a bool */
    INLINED,   /* a builtin, and the program's value of its name: if equal, the call is inlined */
    TEXT,      /* operand to convert to text, which may be below a specification */
    FORMATTED, /* specification, operand */
    CALL,      /* arguments, below them callee and receiver, one of whose slots may be empty */
    CALL_ALL,  /* arguments as a tuple and a dict, and below them a callee */
};

/* Of one code object, indexed by the code unit of the instruction. */
typedef struct {
    unsigned char shape, operator;
    unsigned short depth; /* of the stack before it, which 3.12 and 3.13 do not store */
    unsigned argument;    /* whether it negates; of a call, the offset of its lowest slot */
} Site;

typedef struct {
    unsigned long version; /* value of sites_version when this was made */
    int ours;              /* code of overlay itself, which applies operators natively */
    Py_ssize_t count;
    Site sites[];
} Sites;

#define OPERATORS 256
static Interception *operators[OPERATORS]; /* by their numbers; each is held */
static unsigned long sites_version = 1;
static Py_ssize_t sites_index = -1; /* index of the extra data of code objects */
static PyObject *prepare_code, *disabled, *any_slice;

static void free_sites(void *sites) { PyMem_Free(sites); }

static inline Sites *sites_of(PyObject *code) {
    void *sites = NULL;
    if (sites_index >= 0) PyUnstable_Code_GetExtra(code, sites_index, &sites);
    return sites;
}

/* Our code calls type, str and tuple natively, also through specialised instructions. */
static int is_called_by_us(Interception *it) {
    if (it->target != (PyObject *)&PyType_Type && it->target != (PyObject *)&PyUnicode_Type
        && it->target != (PyObject *)&PyTuple_Type) return 0;
    struct _PyInterpreterFrame *frame = current_frame();
    PyObject *code = frame ? code_of(frame) : NULL;
    Sites *sites = code && PyCode_Check(code) ? sites_of(code) : NULL;
    return sites && sites->ours;
}

/* ---- Trap: an operand whose operator calls a method
 * ----------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Interception *it;
    PyObject *operand;
} Trap;

static PyObject *apply(Trap *trap, PyObject *second, PyObject *third) {
    PyObject *given[] = {trap->operand, second, third};
    Trap *held = (Trap *)Py_NewRef(trap);
    PyObject *result = called(trap->it, given, 1 + (second != NULL) + (third != NULL), NULL);
    Py_DECREF(held);
    return result;
}

static PyObject *apply_unary(PyObject *trap) { return apply((Trap *)trap, NULL, NULL); }
static PyObject *apply_binary(PyObject *trap, PyObject *right) { return apply((Trap *)trap, right, NULL); }
static PyObject *apply_ternary(PyObject *trap, PyObject *right, PyObject *none) { return apply((Trap *)trap, right, NULL); }
static PyObject *apply_comparison(PyObject *trap, PyObject *right, int which) { return apply((Trap *)trap, right, NULL); }

static int as_truth(PyObject *result) {
    int truth = result ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    return truth;
}

static int apply_contains(PyObject *trap, PyObject *element) { return as_truth(apply((Trap *)trap, element, NULL)); }

static int apply_truth(PyObject *trap) {
    int truth = as_truth(apply((Trap *)trap, NULL, NULL));
    return truth < 0 ? truth : !truth; /* the next instruction negates */
}

static int apply_set(PyObject *trap, PyObject *key, PyObject *value) {
    PyObject *result = apply((Trap *)trap, key, value); /* no value: an item is deleted */
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* __format__ of the operand, with a specification if there is one */
static PyObject *format_trap(PyObject *trap, PyObject *specification) {
    int is_empty = PyUnicode_Check(specification) && !PyUnicode_GET_LENGTH(specification);
    return apply((Trap *)trap, is_empty ? NULL : specification, NULL);
}

static PyMethodDef trap_methods[] = {{"__format__", format_trap, METH_O, NULL}, {NULL}};

static int traverse_trap(Trap *trap, visitproc visit, void *arg) {
    Py_VISIT(trap->it);
    Py_VISIT(trap->operand);
    return 0;
}

static void dealloc_trap(Trap *trap) {
    PyObject_GC_UnTrack(trap);
    Py_XDECREF(trap->it);
    Py_XDECREF(trap->operand);
    PyObject_GC_Del(trap);
}

static PyNumberMethods trap_number = {
    .nb_add = apply_binary, .nb_subtract = apply_binary, .nb_multiply = apply_binary, .nb_remainder = apply_binary,
    .nb_power = apply_ternary, .nb_negative = apply_unary, .nb_positive = apply_unary, .nb_bool = apply_truth,
    .nb_invert = apply_unary, .nb_lshift = apply_binary, .nb_rshift = apply_binary, .nb_and = apply_binary,
    .nb_xor = apply_binary, .nb_or = apply_binary, .nb_floor_divide = apply_binary, .nb_true_divide = apply_binary,
    .nb_matrix_multiply = apply_binary, .nb_inplace_add = apply_binary, .nb_inplace_subtract = apply_binary,
    .nb_inplace_multiply = apply_binary, .nb_inplace_remainder = apply_binary, .nb_inplace_power = apply_ternary,
    .nb_inplace_lshift = apply_binary, .nb_inplace_rshift = apply_binary, .nb_inplace_and = apply_binary,
    .nb_inplace_xor = apply_binary, .nb_inplace_or = apply_binary, .nb_inplace_floor_divide = apply_binary,
    .nb_inplace_true_divide = apply_binary, .nb_inplace_matrix_multiply = apply_binary,
};
static PyMappingMethods trap_mapping = {.mp_subscript = apply_binary, .mp_ass_subscript = apply_set};
static PySequenceMethods trap_sequence = {.sq_contains = apply_contains};
static PyTypeObject Trap_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "overlay._native.intercept.Trap",
    .tp_doc = "An operand of which the operator calls a method of a table.",
    .tp_basicsize = sizeof(Trap),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_traverse = (traverseproc)traverse_trap,
    .tp_dealloc = (destructor)dealloc_trap,
    .tp_as_number = &trap_number,
    .tp_as_mapping = &trap_mapping,
    .tp_as_sequence = &trap_sequence,
    .tp_richcompare = apply_comparison,
    .tp_str = apply_unary,
    .tp_repr = apply_unary,
    .tp_methods = trap_methods,
};

static int plant(Interception *it, StackEnd end, int from_end) {
    Trap *trap = PyObject_GC_New(Trap, &Trap_Type);
    if (!trap) return -1;
    trap->it = (Interception *)Py_NewRef(it);
    trap->operand = exchange_on_stack(end, from_end, (PyObject *)trap);
    PyObject_GC_Track(trap);
    return 0;
}

/* ---- handlers before an instruction
 * --------------------------------------------------------------- */

/* The result of `is`, `is not`, and `not` of a bool follows from the operands alone: they are
 * replaced by bools that give the result of the method. */
static int decide(Interception *it, Site site, StackEnd end, PyObject *const *operands, int count) {
    int tracing = see_events(0);
    int truth = as_truth(called(it, operands, count, NULL));
    see_events(tracing);
    if (truth < 0) return -1;
    if (site.shape == NEGATION) {
        Py_DECREF(exchange_on_stack(end, 1, Py_NewRef(truth ? Py_False : Py_True)));
    } else {
        Py_DECREF(exchange_on_stack(end, 1, Py_NewRef(Py_True)));
        Py_DECREF(exchange_on_stack(end, 2, Py_NewRef(truth != (int)site.argument ? Py_True : Py_False)));
    }
    return 0;
}

/* Replace the callee of a call by its stand-in. 0, or -1 with an error. */
static int meet_call(Site site, Callees *callees, StackEnd end) {
    int place = site.argument;
    if (site.shape == CALL && EMPTY_FIRST && !on_stack(end, place)) place--;
    PyObject *callee = on_stack(end, place), *other = stand_in(callees, callee);
    if (!other) return -1;
    if (Py_IS_TYPE(other, &Around_Type) && ((Around *)other)->shown) {
        PyObject *shown = Py_NewRef(((Around *)other)->shown);
        Py_XSETREF(ahead, (Around *)other);
        other = shown;
    }
    if (other == callee) Py_DECREF(other);
    else Py_DECREF(exchange_on_stack(end, place, other));
    return 0;
}

/* 0, or -1 with an error. */
static int meet_instruction(PyCodeObject *code, Site site, PyObject *key) {
    Callees *callees = callees_of(key);
    StackEnd end = stack_end(current_frame(), code, site.depth);
    if (site.shape == CALL || site.shape == CALL_ALL) return callees ? meet_call(site, callees, end) : 0;
    Interception *it = operators[site.operator];
    if (it && !it->wanted) it = NULL;
    if (site.shape == INLINED) { /* it must not recognize the builtin: then the call is made */
        int is_met = on_stack(end, 1) == (it ? it->target : NULL) || (callees && on_stack(end, 1) == on_stack(end, 2));
        if (is_met) Py_DECREF(exchange_on_stack(end, 1, Py_NewRef(Py_None)));
        return 0;
    }
    if (!it) return 0;
    PyObject *operands[3];
    int count = 2, planted = 2; /* position of the operand that handles the operator */
    switch (site.shape) {
    case BINARY:
        operands[0] = on_stack(end, 2), operands[1] = on_stack(end, 1);
        break;
    case TEXT:
        operands[0] = on_stack(end, site.argument), count = 1, planted = site.argument;
        break;
    case UNARY: case TRUTH: case NEGATION:
        operands[0] = on_stack(end, 1), count = planted = 1;
        break;
    case CONTAINS:
        operands[0] = on_stack(end, 1), operands[1] = on_stack(end, 2), planted = 1;
        break;
    case SET:
        operands[0] = on_stack(end, 2), operands[1] = on_stack(end, 1), operands[2] = on_stack(end, 3), count = 3;
        break;
    case GET_SLICE:
        operands[0] = on_stack(end, 3), operands[1] = any_slice, planted = 3;
        break;
    case SET_SLICE:
        operands[0] = on_stack(end, 3), operands[1] = any_slice, operands[2] = on_stack(end, 4), count = planted = 3;
        break;
    case IDENTITY:
        operands[0] = on_stack(end, 2), operands[1] = on_stack(end, 1);
        break;
    case FORMATTED:
        operands[0] = on_stack(end, 2), operands[1] = on_stack(end, 1);
        break;
    default:
        return 0;
    }
    if (kept(&it->memo, key, operands, count) == Py_None) return 0; /* it runs unchanged */
    if (site.shape == IDENTITY || site.shape == NEGATION) return decide(it, site, end, operands, count);
    return plant(it, end, planted);
}

/* trap(code, offset), called by sys.monitoring */
static PyObject *trap(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    PyObject *key;
    /* C code that left an error pending may go on to call Python: the error is raised there. */
    if (PyErr_Occurred()) return NULL;
    Sites *sites = count == 2 && PyCode_Check(args[0]) ? sites_of(args[0]) : NULL;
    Py_ssize_t unit = sites ? PyLong_AsSsize_t(args[1]) / (Py_ssize_t)sizeof(_Py_CODEUNIT) : 0;
    if (!sites || unit >= sites->count || sites->sites[unit].shape == NOTHING) return Py_NewRef(disabled);
    if (undispatched_calls) Py_RETURN_NONE;
    if (PyContextVar_Get(key_variable, NULL, &key) < 0) return NULL;
    int met = key == Py_None ? 0 : meet_instruction((PyCodeObject *)args[0], sites->sites[unit], key);
    Py_DECREF(key);
    if (met < 0) return NULL;
    Py_RETURN_NONE;
}

static int prepare(PyObject *code) {
    /* During shutdown the modules that this calls are already torn down. */
    if (Py_IsFinalizing()) return 0;
    PyObject *result = call_undispatched(prepare_code, &code, 1, NULL);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static inline int is_prepared(PyObject *code) {
    Sites *sites = sites_of(code);
    return sites && sites->version == sites_version;
}

/* started(code, offset, ...), called by sys.monitoring: code starts or resumes */
static PyObject *started(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    PyObject *stack;
    if (PyErr_Occurred()) return NULL; /* as in trap */
    if (count < 2 || !PyCode_Check(args[0])) Py_RETURN_NONE;
    if (!is_prepared(args[0])) {
        if (undispatched_calls || PyContextVar_Get(stack_variable, NULL, &stack) < 0) Py_RETURN_NONE;
        Py_DECREF(stack);
        if (stack == Py_None) Py_RETURN_NONE; /* it may start in a stack later */
        if (prepare(args[0]) < 0) return NULL;
    }
    return Py_NewRef(count == 2 ? disabled : Py_None); /* a throw cannot be disabled */
}

/* prepare_frames(): prepare the code of all frames of this thread, which continue in a new
 * stack. */
static PyObject *prepare_frames(PyObject *module, PyObject *nothing) {
    if (!prepare_code) Py_RETURN_NONE;
    for (struct _PyInterpreterFrame *frame = current_frame(); frame; frame = frame->previous) {
        PyObject *code = code_of(frame);
        if (code && PyCode_Check(code) && has_traceable(code) && !is_prepared(code)) {
            Py_INCREF(code);
            int done = prepare(code);
            Py_DECREF(code);
            if (done < 0) return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* set_sites(code, rows, ours): rows of (unit, shape, operator, argument, depth) */
static PyObject *set_sites(PyObject *module, PyObject *args) {
    PyObject *code, *rows;
    int ours;
    if (!PyArg_ParseTuple(args, "O!O!p:set_sites", &PyCode_Type, &code, &PyList_Type, &rows, &ours)) return NULL;
    Py_ssize_t units = PyList_GET_SIZE(rows) ? Py_SIZE(code) : 0;
    Sites *sites = PyMem_Calloc(1, sizeof(Sites) + units * sizeof(Site));
    if (!sites) return PyErr_NoMemory();
    sites->version = sites_version;
    sites->ours = ours;
    sites->count = units;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(rows); i++) {
        int unit, shape, operator, argument, depth;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(rows, i), "iiiii", &unit, &shape, &operator, &argument, &depth)) goto failed;
        int is_call = shape == CALL || shape == CALL_ALL;
        if (unit < 0 || unit >= units || operator < 0 || operator >= OPERATORS || depth < 0 || depth > USHRT_MAX
            || argument < 0 || (is_call && EMPTY_FIRST && argument > depth)) {
            PyErr_SetString(PyExc_ValueError, "a site lies outside of its code");
            goto failed;
        }
        sites->sites[unit] = (Site){shape, operator, depth, argument};
    }
    if (PyUnstable_Code_SetExtra(code, sites_index, sites) < 0) goto failed; /* frees old ones */
    Py_RETURN_NONE;
failed:
    PyMem_Free(sites);
    return NULL;
}

/* keep_tools_of(code): keep the events of both tools, ours and another, whichever comes second. */
static PyObject *keep_tools_of(PyObject *module, PyObject *code) {
    if (!PyCode_Check(code)) return PyErr_Format(PyExc_TypeError, "no code: %R", code);
    if (keep_tools((PyCodeObject *)code) < 0) return NULL;
    Py_RETURN_NONE;
}

/* set_operator(number, interception | None) */
static PyObject *set_operator(PyObject *module, PyObject *args) {
    int number;
    PyObject *it;
    if (!PyArg_ParseTuple(args, "iO:set_operator", &number, &it)) return NULL;
    if (number < 0 || number >= OPERATORS || (it != Py_None && !Py_IS_TYPE(it, &Interception_Type))) {
        return PyErr_Format(PyExc_ValueError, "no number of an operator, or no interception");
    }
    Py_XSETREF(operators[number], it == Py_None ? NULL : (Interception *)Py_NewRef(it));
    Py_RETURN_NONE;
}

/* set_up_traps(prepare, disable): prepare for sys.monitoring */
static PyObject *set_up_traps(PyObject *module, PyObject *args) {
    PyObject *function, *disable;
    if (!PyArg_ParseTuple(args, "OO:set_up_traps", &function, &disable)) return NULL;
    if (sites_index < 0 && (sites_index = PyUnstable_Eval_RequestCodeExtraIndex(free_sites)) < 0) {
        return PyErr_Format(PyExc_RuntimeError, "no room is left beside code objects");
    }
    if (!any_slice && !(any_slice = PySlice_New(NULL, NULL, NULL))) return NULL;
    Py_XSETREF(prepare_code, Py_NewRef(function));
    Py_XSETREF(disabled, Py_NewRef(disable));
    Py_RETURN_NONE;
}

/* other_traps(): the set of requested instructions has changed: code is prepared again. */
static PyObject *other_traps(PyObject *module, PyObject *nothing) {
    sites_version++;
    Py_RETURN_NONE;
}
