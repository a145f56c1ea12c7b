"""How much of a dump is read: bounds of memory and of time on files of unknown origin.

Real captures hold some thousand commands in a few megabytes; each bound is far above that.
"""

MOST_BYTES = 64 * 1024 * 1024
"""Of a file."""
LONGEST_TEXT = 1024 * 1024
"""Characters of one label or name; the labels of drivers have below a thousand beside the kernel's name."""
MOST_WORDS = 8_000_000
"""A command has some twenty."""
MOST_COMMANDS = 200_000
MOST_EDGES = 500_000
MOST_GRAPHS = 20_000
"""Graphs and boxes in one file."""
MOST_REPEATED = 20_000
"""Commands and graphs drawn again because a graph is run by several commands."""
DEEPEST_NESTING = 64
"""Boxes in boxes; what lies deeper stands beside them."""
DEEPEST_RECORD = 16
MOST_PROBLEMS = 50
"""Places where a file is broken; after so many the rest says nothing."""
MOST_FACTS = 100
LONGEST_LABEL = 300
LONGEST_FACT = 2_000
