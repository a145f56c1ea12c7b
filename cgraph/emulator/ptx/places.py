"""Which .cu line an instruction comes from, as `.loc` tells.

Receives each `.loc`; guarantees the innermost line that is not in a header of the toolkit, where inlining is told.
"""

from attrs import define, field

from cgraph.emulator.ptx.tokens import Words

Location = tuple[int, int, int]


@define
class Places:
    """The last `.loc`, and where each inlined one was called from."""

    callers: dict[Location, Location] = field(factory=dict)
    current: Location | None = None

    def read_loc(self, words: Words) -> None:
        """Steps over `.loc file line column[, function_name label[+n], inlined_at file line column]`."""
        words.expect(".loc")
        self.current = _location(words)
        if not words.accept(","):
            return
        words.expect("function_name")
        words.name("a label")
        if words.accept("+"):
            words.natural("an offset")
        words.expect(",")
        words.expect("inlined_at")
        self.callers[self.current] = _location(words)

    def resolved(self, library: frozenset[int]) -> Location | None:
        """The current location, or the nearest one around it that is in no file of `library`."""
        location = self.current
        seen: set[Location] = set()
        while location is not None and location[0] in library and location not in seen:
            seen.add(location)
            location = self.callers.get(location)
        return location if location is not None else self.current


def _location(words: Words) -> Location:
    return words.natural("a file's number"), words.natural("a line"), words.natural("a column")


def library_files(files: dict[int, str]) -> frozenset[int]:
    """Files that belong to the toolkit rather than to the user: those in a folder named `include`."""
    return frozenset(number for number, path in files.items() if "include" in path.split("/"))
