"""Random small programs that are well typed, with a meaning of their own in plain Python.

A program has two parameters, planes, an image with one natural, and launches of it: directly, through a function, or
in a loop, on whole planes and on parts. Whether a launch fits is computed here from the formulas, with ints.
"""

from collections.abc import Callable, Iterator, Mapping

from attrs import frozen
from hypothesis import strategies as st

PARAMETERS = ("m", "n")
_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "naturalAdd": lambda a, b: a + b,
    "naturalMultiply": lambda a, b: a * b,
    "naturalSubtract": lambda a, b: max(a - b, 0),
    "naturalCeilDivide": lambda a, b: -(-a // b),
    "naturalMinimum": min,
    # A sum that only a build knows, where the first part is no number.
    "naturalFold": lambda a, b: a + b,
}
POLYNOMIAL = ("naturalAdd", "naturalMultiply")
FORMULAS = tuple(name for name in _OPERATIONS if name != "naturalFold")
ALL = tuple(_OPERATIONS)
_STEP = " (lambda unrestricted turn : Nat . (lambda unrestricted sum : Nat . (naturalAdd sum 1)))"


@frozen
class Formula:
    """A number, a name, or an operation of two formulas; a divisor is a number above 0."""

    head: str | int
    parts: "tuple[Formula, ...]" = ()

    def text(self) -> str:
        """As the language writes it."""
        if not self.parts:
            return str(self.head)
        step = _STEP if self.head == "naturalFold" else ""
        return f"({self.head} {self.parts[0].text()} {self.parts[1].text()}{step})"

    def value(self, sizes: Mapping[str, int]) -> int:
        """What it comes to."""
        if self.parts:
            return int(_OPERATIONS[str(self.head)](*(part.value(sizes) for part in self.parts)))
        return self.head if isinstance(self.head, int) else sizes[self.head]


@frozen
class Launch:
    """A launch on a part of a plane. `turns` is None outside loops; inside, `i` may stand in the other formulas."""

    plane: int
    offset: Formula
    size: Formula
    grid: Formula
    turns: Formula | None
    through_function: bool


@frozen
class RandomProgram:
    """Planes by their number of elements; the image touches `touched` elements and asks for a grid, both over `s`."""

    planes: tuple[Formula, ...]
    touched: Formula
    grid: Formula
    launches: tuple[Launch, ...]

    def text(self) -> str:
        """The program; every plane is a saved one, so that only launches can be wrong."""
        lines = [f"parameter {name} : Nat = 2" for name in PARAMETERS]
        lines += [f"plane p{number} : f32 [{size.text()}] saved" for number, size in enumerate(self.planes)]
        lines.append('image touch = kernel "touch.cu" "touch" {')
        lines += [f"  slot 0 out : accumulate f32 [{self.touched.text()}]", "  slot 1 s : natural"]
        lines += [f"  grid [{self.grid.text()}]", "  block 32", "}"]
        lines += [
            "def call =",
            "  (lambda unrestricted p : Plane f32 . (lambda unrestricted s' : Nat . (lambda unrestricted g : Nat .",
            "    (cgLaunch touch g 1 1 (cgNatural (cgArgument 1) s' (cgPointer (cgArgument 0) p cgNoSlots))))))",
        ]
        commands = [_command(launch) for launch in self.launches]
        lines.append(
            f"def main = {' '.join(f'(cgThen {command}' for command in commands)} cgNothing{')' * len(commands)}"
        )
        return "\n".join(lines) + "\n"

    def faults(self, sizes: Mapping[str, int], fewest_turns: int = 0) -> set[str]:
        """Codes of what is wrong for these sizes, with so many turns of each loop at least."""
        return {code for launch in self.launches for code in self._faults(launch, sizes, fewest_turns)}

    def _faults(self, launch: Launch, sizes: Mapping[str, int], fewest_turns: int) -> Iterator[str]:
        turns = 1 if launch.turns is None else launch.turns.value(sizes)
        for i in range(max(turns, fewest_turns)):
            inside = {**sizes, "i": i}
            size = launch.size.value(inside)
            left = self.planes[launch.plane].value(sizes) - launch.offset.value(inside)
            if left < 0:
                yield "CG404"
            elif self.touched.value({"s": size}) > left:
                yield "CG236"
            if self.grid.value({"s": size}) != launch.grid.value(inside):
                yield "CG237"


def _command(launch: Launch) -> str:
    plane = f"p{launch.plane}"
    if launch.offset.head != 0:
        plane = f"(cgAt {plane} {launch.offset.text()})"
    size, grid = launch.size.text(), launch.grid.text()
    command = f"(call {plane} {size} {grid})"
    if not launch.through_function:
        slots = f"(cgPointer (cgArgument 0) {plane} (cgNatural (cgArgument 1) {size} cgNoSlots))"
        command = f"(cgLaunch touch {grid} 1 1 {slots})"
    if launch.turns is None:
        return command
    return f"(cgEach {launch.turns.text()} (lambda unrestricted i : Nat . {command}))"


def formulas(names: tuple[str, ...], operations: tuple[str, ...], depth: int = 2) -> st.SearchStrategy[Formula]:
    """Formulas over some names."""
    leaves = st.one_of(st.integers(0, 3), st.sampled_from(names)).map(Formula)
    if depth == 0:
        return leaves
    inner = formulas(names, operations, depth - 1)
    numbers = st.integers(1, 3).map(Formula)
    return st.one_of(
        leaves,
        st.sampled_from(operations).flatmap(
            lambda operation: st.builds(
                lambda left, right: Formula(operation, (left, right)),
                inner,
                numbers if "Divide" in operation else inner,
            )
        ),
    )


@st.composite
def random_programs(
    draw: st.DrawFn, operations: tuple[str, ...], in_launches: tuple[str, ...] | None = None
) -> RandomProgram:
    """Programs with these operations in declarations, and perhaps others in launches.

    Half of the grids and sizes are made to fit, so that some programs are right as a whole.
    """
    touched = draw(formulas(("s",), operations, 1))
    grid = draw(formulas(("s",), operations, 1))
    planes = tuple(draw(st.lists(formulas(PARAMETERS, operations), min_size=1, max_size=3)))
    operations = in_launches or operations
    launches = []
    for _ in range(draw(st.integers(1, 2))):
        in_loop = draw(st.booleans())
        names = (*PARAMETERS, "i") if in_loop else PARAMETERS
        plane = draw(st.integers(0, len(planes) - 1))
        size = planes[plane] if draw(st.booleans()) else draw(formulas(names, operations, 1))
        launches.append(
            Launch(
                plane,
                draw(st.one_of(st.just(Formula(0)), formulas(names, operations, 1))),
                size,
                _put_in(grid, size) if draw(st.integers(0, 3)) else draw(formulas(names, operations, 1)),
                draw(formulas(PARAMETERS, operations, 1)) if in_loop else None,
                draw(st.booleans()),
            )
        )
    return RandomProgram(planes, touched, grid, tuple(launches))


def _put_in(formula: Formula, size: Formula) -> Formula:
    """The formula with a size put in for `s`."""
    if formula.head == "s":
        return size
    return Formula(formula.head, tuple(_put_in(part, size) for part in formula.parts))
