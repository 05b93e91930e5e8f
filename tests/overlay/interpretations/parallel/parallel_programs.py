"""Programs whose calls do not depend on one another, and some whose calls do."""

import math

import numba
import numpy as np

SCALE = 0.5
TABLE = [1.0, 2.0, 3.0]


def helper(x):
    return math.sin(x) * SCALE


def work(x, terms=50):
    total = 0.0
    for i in range(terms):
        total += helper(x * i)
    return total


def comprehension(n):
    return [work(x * 0.1) for x in range(n)]


def filtered(n):
    return [work(x) + 1.0 for x in range(n) if x % 3]


def sets_and_dicts(n):
    return {work(x): work(x, 30) for x in range(n) if x != 2}, sorted({work(-x) for x in range(n)})


def accumulated(n):
    total, seen = 0.0, []
    for i, x in enumerate(range(n)):
        total += work(x, terms=20) + work(x + i, 30)
        seen.append(total)
    return total, seen


def mapped(n):
    return sum(map(work, range(n)))


def below(n):
    return comprehension(n), accumulated(n)


def row_sum(row):
    scaled = [helper(x) for x in row]
    scaled.append(float(len(row)))
    scaled.sort()
    return {"sum": sum(scaled), "largest": max(scaled)}


def rows_summed(rows):
    return [row_sum(row) for row in rows]


def centred(values, k):
    out = np.zeros(values.size)
    for i in range(values.size):
        out[i] = values[i] - k
    return np.sqrt(np.abs(out))


def arrays(values, n):
    return [centred(values, k) for k in range(n)]


@numba.njit(nogil=True)
def kernel(values, k):
    total = 0.0
    for i in range(values.size):
        total += math.sin(values[i] * k)
    return total


def kernels(values, n):
    return [kernel(values, k) for k in range(n)]


def fails_at(x):
    if x == 5:
        raise ValueError("five")
    return work(x)


def failing(n, seen):
    for x in range(n):
        seen.append(fails_at(x))


# ---- with dependences -------------------------------------------------------------------------


def carried(n):
    x = 0.5
    for _ in range(n):
        x = work(x)
    return x


def through_a_list(n):
    values = [0.5]
    for i in range(n):
        values.append(row_sum(values)["sum"] * 0.1 + i)
    return values


def early(n):
    for x in range(n):
        if work(x) > 3.0:
            return x
    return None


COUNT = [0]


def counting(x):
    COUNT[0] += 1
    return x + COUNT[0]


def counted(n):
    return [counting(x) for x in range(n)]


CALLS = 0


def setting(x):
    global CALLS
    CALLS += 1
    return x * CALLS


def set_globally(n):
    return [setting(x) for x in range(n)]


def printing(x):
    print(x)
    return x


def printed(n):
    return [printing(x) for x in range(n)]


def reads_table(x):
    return TABLE[x % 3]


def from_table(n):
    return [reads_table(x) for x in range(n)]


def writing(row):
    row[0] = 0.0
    return sum(row)


def written(rows):
    return [writing(row) for row in rows]


def keeping(row, x):
    box = []
    box.append(row)
    box[0][0] = x
    return x


def kept(rows):
    return [keeping(row, 1.0) for row in rows]


def itself(row):
    return row


def themselves(rows):
    return [itself(row) for row in rows]


def drawing(x):
    return x + np.random.default_rng(0).normal()


def drawn(n):
    return [drawing(x) for x in range(n)]


def words_of(x):
    return list({f"a{x}", f"b{x}"})


def words(n):
    return [words_of(x) for x in range(n)]


def written_out(values, out):
    np.sin(values, out)
    return 0.0


def all_written_out(values, out, n):
    return [written_out(values, out) for _ in range(n)]


def grown(values):
    found = []
    for x in values:
        found.append(work(x))
        if len(values) < 12:
            values.append(x + 1.0)
    return found


def changed_under_way(values, n):
    found = []
    for k in range(n):
        found.append(centred(values, k))
        values[0] += 1.0
    return found


def rebinds(n):
    found = []
    for x in range(n):
        found.append(helper(x))
        rebind(x)
    return found


def rebind(x):
    global SCALE
    if x == 6:
        SCALE = 2.0


def every_other(n):
    return np.sqrt(np.arange(float(n)))[::2]


def strided(n):
    return [every_other(k) for k in range(n)]


def noted(x):
    COUNT[0] += 1
    return x


by_python = np.frompyfunc(noted, 1, 1)


def calls_python(x):
    return by_python(x)


def called_by_c(n):
    return [calls_python(x) for x in range(n)]


def classes():
    COUNT[0] += 1
    return ValueError


def handles(x):
    try:
        return 1 // x
    except (ZeroDivisionError, classes()):
        return 0


def handled(n):
    return [handles(x) for x in range(n)]


def spreading(values, out):
    return np.sin(*[values, out]).sum()


def spread(values, out, n):
    return [spreading(values, out) for _ in range(n)]


@numba.njit(nogil=True)
def doubled_in_place(values):
    for i in range(values.size):
        values[i] *= 2.0
    return values.sum()


def doubled(values, n):
    values = values.copy()
    return [doubled_in_place(values) for _ in range(n)]


@numba.njit
def with_the_gil(x):
    return x * 2.0


def held(n):
    return [with_the_gil(x) for x in range(n)]


def mutual(n, values):
    return values if n == 0 else other(n - 1, values)


def other(n, values):
    return mutual(n, values) if n else values


def by_recursion(rows):
    return [mutual(2, row) for row in rows]
