"""Relations of strings and lists.

``chains``: concatenation of strings and lists: solved for any parts, from the whole and the
others.
``parts``: repetition, slices, items and length of strings and lists.
``sequence_table``: the relations of strings and lists in the base table.
``texts``: case of strings, numbers as text, characters, and comparisons of strings.
``changes``: methods of strings with constant arguments.
``formats``: numbers and strings as text by a format.
"""
