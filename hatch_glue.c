/* The module `_fastexp`: kernels that numba compiled, called from Python. `hatch_build.py` writes
   kernels.h, with a function for each. */

#define Py_LIMITED_API 0x030B0000 /* one build for Python 3.11 and all later */
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <stdlib.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef double f64;
typedef void *none;
typedef struct { void *data; i64 size; } array;
typedef array in_i64, in_u64, in_f64, out_i64, out_u64, out_f64;

/* In numba's convention, an array is seven values. */
#define ARRAY void *, void *, i64, i64, void *, i64, i64
#define SPREAD(x) NULL, NULL, x.size, 8, x.data, x.size, 8

static int get_i64(PyObject *o, i64 *x) {
    *x = PyLong_AsLongLong(o);
    return *x != -1 || !PyErr_Occurred();
}

static int get_u64(PyObject *o, u64 *x) {
    PyObject *number = PyNumber_Index(o);
    if (!number) return 0;
    *x = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return *x != (u64)-1 || !PyErr_Occurred();
}

static int get_f64(PyObject *o, f64 *x) {
    *x = PyFloat_AsDouble(o);
    return *x != -1.0 || !PyErr_Occurred();
}

static int get_array(PyObject *o, int type, int flags, array *x) {
    flags |= NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
    if (PyArray_Check(o)) {
        PyArrayObject *a = (PyArrayObject *)o;
        if (PyArray_NDIM(a) == 1 && PyArray_CHKFLAGS(a, flags) && PyArray_ISNOTSWAPPED(a) &&
            PyArray_EquivTypenums(PyArray_TYPE(a), type)) {
            x->data = PyArray_DATA(a);
            x->size = PyArray_DIM(a, 0);
            return 1;
        }
    }
    PyErr_SetString(PyExc_TypeError, "a kernel got an array of another kind");
    return 0;
}

#define ARRAYS(element, type)                                                           \
    static inline int get_in_##element(PyObject *o, array *x) {                         \
        return get_array(o, type, 0, x);                                                \
    }                                                                                   \
    static inline int get_out_##element(PyObject *o, array *x) {                        \
        return get_array(o, type, NPY_ARRAY_WRITEABLE, x);                              \
    }
ARRAYS(i64, NPY_INT64)
ARRAYS(u64, NPY_UINT64)
ARRAYS(f64, NPY_DOUBLE)

static inline PyObject *put_i64(i64 x) { return PyLong_FromLongLong(x); }
static inline PyObject *put_f64(f64 x) { return PyFloat_FromDouble(x); }
static inline PyObject *put_none(none x) { return Py_NewRef(Py_None); }

static int level; /* the code for which CPUs runs */

#include "kernels.h"

static int greatest_level(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_fastexp", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__fastexp(void) {
    import_array();
    level = getenv("FASTEXP_BASELINE") ? 0 : greatest_level(); /* the variable is for tests */
    PyObject *module = PyModule_Create(&definition);
    if (module && (PyModule_AddStringConstant(module, "DIGEST", DIGEST) ||
                   PyModule_AddIntConstant(module, "LEVEL", level))) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
