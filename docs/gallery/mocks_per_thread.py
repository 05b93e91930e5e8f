"""Mocks for tests, for one thread and for one task.

Kind: whole runs
Shows: a frozen clock in some threads, wherever they import it from
Tests: tests/overlay/interpretations/test_mocks.py:
 test_each_thread_has_its_own,
 tests/overlay/interpretations/test_mocks.py:
 test_each_task_has_its_own
"""

import asyncio
import email.utils
import threading
import time

from overlay.interpretations.mocks import Mocks


def stopped(second):
    mocks = Mocks()
    mocks.replace(time.time, return_value=float(second))
    return mocks


def date():
    barrier.wait()  # all threads are in their contexts
    dates.append(email.utils.formatdate(usegmt=True))


async def task(second):
    with stopped(second):
        await asyncio.sleep(0)
        return time.time()


async def tasks():
    return await asyncio.gather(task(1), task(2), asyncio.to_thread(time.time))


dates, barrier = [], threading.Barrier(3)
runs = [stopped(0).wrap(date), stopped(10**9).wrap(date), date]
threads = [threading.Thread(target=run) for run in runs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(*sorted(dates, key=email.utils.parsedate)[:2], sep="\n")
one, two, true = asyncio.run(tasks())
print("tasks:", one, two, true > 10**9)
