"""Images as plain data: the signature with its slots, sizes, constants and requirements.

Receives images of a build, whose sizes hold slots alone; guarantees, when reading, signatures that keep the rules of
declarations: slots numbered without gaps, names used once, aliases that name other pointers, extents for pointers only.
Values of slots are left to the commands.
"""

from typing import Any

from attrs import evolve

from cgraph.capture.codec import fields
from cgraph.capture.codec.naturals import NaturalsWriter, read_atoms, read_natural
from cgraph.capture.codec.places import Places, PlacesWriter
from cgraph.core.elements import Element
from cgraph.core.naturals import Natural, Polynomial
from cgraph.core.roles import AccessMode
from cgraph.core.signatures import Relation, Requirement, Signature, Slot, SlotKind
from cgraph.graph.model import Image

IMAGE_KEYS = (
    "name", "file", "entry", "span", "slots", "constants", "grid", "block", "shared_bytes", "requirements", "atoms",
)  # fmt: skip
SLOT_KEYS = ("name", "kind", "span", "element", "access", "extent", "optional", "aliases", "half")
REQUIREMENT_KEYS = ("left", "relation", "right", "span")
MOST_SLOTS = 256  # of one image: pairs of them are compared for every launch
MOST_SIZES = 10_000  # terms in all sizes of one signature
BOUND_ELEMENTS = tuple(element for element in Element if element is not Element.HALF)


def image_data(image: Image, places: PlacesWriter) -> dict[str, Any]:
    """An image as plain data; its spans join the places."""
    signature = image.signature
    if signature.constants != image.constants:
        raise ValueError(f"image {signature.name}: its constants are not those of its signature")
    naturals = NaturalsWriter()
    return {
        "name": signature.name,
        "file": signature.file,
        "entry": signature.entry,
        "span": places.span(signature.span),
        "slots": [_slot_data(slot, naturals, places) for slot in signature.slots],
        "constants": [[name, value] for name, value in image.constants],
        "grid": None if signature.grid is None else [naturals.data(size) for size in signature.grid],
        "block": [naturals.data(size) for size in signature.block],
        "shared_bytes": naturals.data(signature.shared_bytes),
        "requirements": [
            {
                "left": naturals.data(requirement.left),
                "relation": requirement.relation.value,
                "right": naturals.data(requirement.right),
                "span": places.span(requirement.span),
            }
            for requirement in signature.requirements
        ],
        "atoms": naturals.atoms,
    }


def read_image(value: object, place: str, places: Places) -> Image:
    """An image. Raises FieldError."""
    (name, file, entry, span, slots, constants, grid, block, shared_bytes, requirements, atoms) = fields.record(
        value, place, IMAGE_KEYS
    )
    bare, extents = _read_slots(slots, f"{place}.slots", places)
    known = read_atoms(atoms, f"{place}.atoms", {slot.name for slot in bare if slot.kind is SlotKind.NATURAL})

    def size(data: object, key: str) -> Natural:
        return read_natural(data, f"{place}.{key}", known)

    def triple(data: object, key: str) -> tuple[Natural, Natural, Natural]:
        x, y, z = fields.listing(data, f"{place}.{key}", 3)
        return size(x, key), size(y, key), size(z, key)

    fixed = _read_constants(constants, f"{place}.constants")
    signature = Signature(
        name=fields.name(name, f"{place}.name"),
        file=fields.file_name(file, f"{place}.file"),
        entry=fields.name(entry, f"{place}.entry"),
        slots=tuple(
            evolve(slot, extent=tuple(size(data, f"slots.{slot.number}.extent") for data in extent))
            for slot, extent in zip(bare, extents, strict=True)
        ),
        constants=fixed,
        grid=None if grid is None else triple(grid, "grid"),
        block=triple(block, "block"),
        shared_bytes=size(shared_bytes, "shared_bytes"),
        requirements=tuple(
            _read_requirement(data, f"{place}.requirements.{index}", known, places)
            for index, data in enumerate(fields.listing(requirements, f"{place}.requirements"))
        ),
        span=places.span(span, f"{place}.span"),
    )
    if terms_of_sizes(signature) > MOST_SIZES:
        raise fields.wrong(place, f"sizes of at most {MOST_SIZES} terms", "more")
    return Image(signature, fixed)


def terms_of_sizes(signature: Signature) -> int:
    """How many terms all sizes of a signature have: what evaluating them once costs."""
    sizes: list[Natural] = [*signature.block, signature.shared_bytes, *(signature.grid or ())]
    sizes += [size for slot in signature.slots for size in slot.extent]
    sizes += [side for item in signature.requirements for side in (item.left, item.right)]
    return sum(len(size.terms) if isinstance(size, Polynomial) else 1 for size in sizes)


def _slot_data(slot: Slot, naturals: NaturalsWriter, places: PlacesWriter) -> dict[str, Any]:
    return {
        "name": slot.name,
        "kind": slot.kind.value,
        "span": places.span(slot.span),
        "element": None if slot.element is None else slot.element.value,
        "access": None if slot.access is None else slot.access.value,
        "extent": [naturals.data(size) for size in slot.extent],
        "optional": slot.optional,
        "aliases": list(slot.aliases),
        "half": slot.half,
    }


def _read_slots(value: object, place: str, places: Places) -> tuple[list[Slot], list[list[Any]]]:
    """Slots without their extents, and these as data: they may hold slots that stand later."""
    slots: list[Slot] = []
    extents: list[list[Any]] = []
    for index, data in enumerate(fields.listing(value, place, most=MOST_SLOTS)):
        here = f"{place}.{index}"
        name, kind, span, element, access, extent, optional, aliases, half = fields.record(data, here, SLOT_KEYS)
        pointer = fields.choice(SlotKind, kind, f"{here}.kind") is SlotKind.POINTER
        for key, given in (("element", element), ("access", access)):
            if (given is None) is pointer:
                raise fields.wrong(f"{here}.{key}", "something for a pointer and null for a number", given)
        if not pointer and (extent != [] or aliases != [] or optional is not False):
            raise fields.wrong(here, "no extent, no aliases and no `optional` of a number", data)
        slots.append(
            Slot(
                number=index,
                name=fields.name(name, f"{here}.name"),
                kind=SlotKind(kind),
                span=places.span(span, f"{here}.span"),
                element=fields.choice(Element, element, f"{here}.element", BOUND_ELEMENTS) if pointer else None,
                access=fields.choice(AccessMode, access, f"{here}.access") if pointer else None,
                optional=fields.flag(optional, f"{here}.optional"),
                aliases=tuple(fields.texts(aliases, f"{here}.aliases", fields.name)),
                half=fields.flag(half, f"{here}.half"),
            )
        )
        extents.append(fields.listing(extent, f"{here}.extent"))
    _check_names(slots, place)
    return slots, extents


def _check_names(slots: list[Slot], place: str) -> None:
    pointers = {slot.name for slot in slots if slot.kind is SlotKind.POINTER}
    seen: set[str] = set()
    for slot in slots:
        if slot.name in seen:
            raise fields.wrong(f"{place}.{slot.number}.name", "a name that no other slot has", slot.name)
        seen.add(slot.name)
        for alias in slot.aliases:
            if alias not in pointers or alias == slot.name:
                raise fields.wrong(f"{place}.{slot.number}.aliases", "names of other pointers", alias)


def _read_constants(value: object, place: str) -> tuple[tuple[str, int], ...]:
    constants: dict[str, int] = {}
    for index, data in enumerate(fields.listing(value, place, most=MOST_SLOTS)):
        name, size = fields.listing(data, f"{place}.{index}", 2)
        if fields.name(name, f"{place}.{index}.0") in constants:
            raise fields.wrong(f"{place}.{index}.0", "a name that no other constant has", name)
        constants[name] = fields.integer(size, f"{place}.{index}.1")
    return tuple(constants.items())


def _read_requirement(value: object, place: str, atoms: list[Natural], places: Places) -> Requirement:
    left, relation, right, span = fields.record(value, place, REQUIREMENT_KEYS)
    return Requirement(
        read_natural(left, f"{place}.left", atoms),
        fields.choice(Relation, relation, f"{place}.relation"),
        read_natural(right, f"{place}.right", atoms),
        places.span(span, f"{place}.span"),
    )
