"""The text form of a checked program: its own declarations with all sizes in normal form.

Deterministic, one line a thing. What comes from other files is only counted, so that the text of a program does not
change with the library.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from cgraph.check.program import CheckedProgram
from cgraph.check.values import PlaneFamily
from cgraph.core.naturals import Natural, render
from cgraph.core.roles import Role
from cgraph.core.signatures import Signature, Slot, SlotKind
from cgraph.core.types import render_type
from cgraph.source import Span


def program_text(program: CheckedProgram) -> str:
    """The program as text, with a line end after each line."""
    return "".join(f"{line}\n" for line in _lines(program))


def _lines(program: CheckedProgram) -> Iterator[str]:
    source = program.root.source
    yield f"program {PurePath(source.name).name}"
    yield from _imported(program)
    for place, lines in _declarations(program):
        if place.source is source:
            yield from lines


def _declarations(program: CheckedProgram) -> Iterator[tuple[Span, Iterable[str]]]:
    """Place and lines of every declaration."""
    for parameter in program.parameters.values():
        yield parameter.span, [f"parameter {parameter.name} : {render_type(parameter.type)}"]
    for phase in program.phases.values():
        yield phase.span, [f'phase {phase.name} "{phase.title}"']
    for family in program.planes.values():
        yield family.span, [_plane(family)]
    for image in program.images.values():
        yield image.signature.span, _image(image.signature)
    for definition in program.definitions.values():
        yield definition.span, [f"def {definition.name} : {render_type(definition.type)}"]


def _imported(program: CheckedProgram) -> Iterator[str]:
    """Each imported file with the number of its declarations, by name."""
    root = program.root.source
    names = (place.source.name for place, _ in _declarations(program) if place.source is not root)
    counts = Counter(PurePath(name).name for name in names)
    for name, count in sorted(counts.items()):
        yield f"imports {name} ({count} declaration{'' if count == 1 else 's'})"


def _plane(family: PlaneFamily) -> str:
    indices = "".join(
        f" ({symbol.name} < {render(bound)})" for symbol, bound in zip(family.symbols, family.bounds, strict=True)
    )
    role = f"gradient of {family.gradient_of}" if family.role is Role.GRADIENT else family.role.value
    return f"plane {family.name}{indices} : {family.element.value} {_sizes(family.extent)} {role}"


def _image(signature: Signature) -> Iterator[str]:
    yield f'image {signature.name} = "{signature.file}" "{signature.entry}"'
    for slot in signature.slots:
        yield f"  slot {slot.number} {slot.name} : {_slot(slot)}"
    for name, value in signature.constants:
        yield f"  constant {name} = {render(value)}"
    for requirement in signature.requirements:
        yield f"  require {render(requirement.left)} {requirement.relation.value} {render(requirement.right)}"
    if signature.grid is not None:
        yield f"  grid {_sizes(signature.grid)}"
    yield f"  block {_sizes(signature.block)}"
    if signature.shared_bytes != 0:
        yield f"  shared {render(signature.shared_bytes)} bytes"


def _slot(slot: Slot) -> str:
    if slot.kind is not SlotKind.POINTER or slot.access is None or slot.element is None:
        return slot.kind.value
    words = [slot.access.value, slot.element.value, _sizes(slot.extent)]
    if slot.optional:
        words.append("optional")
    if slot.aliases:
        words.append("aliases " + " ".join(slot.aliases))
    return " ".join(words)


def _sizes(sizes: Iterable[Natural]) -> str:
    return "[" + ", ".join(render(size) for size in sizes) + "]"
