"""What is compiled together, and with which options and macros: the same for the compiler and for what is stored.

Receives images with bound sizes; guarantees groups of one file in which no constant has two values. Needs no CUDA
package.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cgraph.backends.cuda.sources import HALF_MACRO
from cgraph.core.elements import Element
from cgraph.graph.model import Image

# Beside the architecture, folders of headers and macros.
OPTIONS = ("--std=c++17", "--generate-line-info", "--ptxas-options=-v")


def group_images(images: Sequence[Image]) -> Iterable[list[int]]:
    """Numbers of images that are compiled together: of one file, and without two values of one constant."""
    groups: dict[tuple[Path, str], list[tuple[dict[str, int], list[int]]]] = {}
    for number, image in enumerate(images):
        signature = image.signature
        places = groups.setdefault((Path(signature.span.source.name).parent, signature.file), [])
        constants = dict(image.constants)
        for taken, numbers in places:
            if all(taken.get(name, value) == value for name, value in constants.items()):
                taken.update(constants)
                numbers.append(number)
                break
        else:
            places.append((constants, [number]))
    return (numbers for places in groups.values() for _, numbers in places)


def constants_of(images: Iterable[Image]) -> dict[str, int]:
    """The constants of images that are compiled together."""
    return dict(constant for image in images for constant in image.constants)


def macros_of(constants: Mapping[str, int], half: Element) -> tuple[tuple[str, str], ...]:
    """Name and value of every macro: `CG_HALF` where half is one of CUDA's types, then the constants by name."""
    return (
        *((("CG_HALF", HALF_MACRO[half]),) if half in HALF_MACRO else ()),
        *((name, str(value)) for name, value in sorted(constants.items())),
    )
