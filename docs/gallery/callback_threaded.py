"""A callback that every call receives.

Kind: observed calls
Shows: state that reaches functions without a parameter for it
Tests: tests/overlay/python/test_metadata.py:
 test_metadata_change_for_calls_inside_calls
"""

from overlay import Context, Plugin, current_context


class Reported(Plugin):
    def around(self, callee, run):
        def reported(*args):
            result = run(*args)
            current_context().metadata(callee.__name__, result)
            return result

        return reported


reporting = Context(plugins=(Reported(),))


def with_callback(callback, f, *args):
    return reporting.replace(metadata=callback)(f, *args)


def program(text):
    return max([weight(word) for word in text.split()])


def weight(word):
    return len(word)


longest = with_callback(lambda name, result: print(name, "->", result), program, "to be or not")
print("longest:", longest)
