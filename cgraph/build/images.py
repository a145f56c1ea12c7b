"""The images of a program with the parameters of a build put in, without building any commands.

A build makes them as it meets launches; whoever looks at kernels alone (the `kernels` command) has them from here.
"""

from collections.abc import Mapping

from attrs import evolve

from cgraph.build.parameters import build_world
from cgraph.check.program import CheckedProgram
from cgraph.check.values import ImageValue
from cgraph.core.elements import Element, bind_element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image


def concrete_images(program: CheckedProgram, parameters: Mapping[str, int | float], half: Element) -> tuple[Image, ...]:
    """The images that a program declares or needs, in the order of their declaration.

    Args:
        program: checked.
        parameters: values by name; defaults of the program stand for the rest.
        half: what `half` stands for.

    Raises:
        ProblemsFound: a parameter has no usable value.
    """
    problems: list[Problem] = []
    world, _ = build_world(program, parameters, problems.append)
    if problems:
        raise ProblemsFound(problems)
    images = []
    for name, declared in program.images.items():
        value = world.values[name]
        own = declared.signature.span.source is program.root.source
        if isinstance(value, ImageValue) and (own or name in program.mentioned):
            slots = tuple(
                slot if slot.element is None else evolve(slot, element=bind_element(slot.element, half))
                for slot in value.signature.slots
            )
            signature = evolve(value.signature, slots=slots)
            images.append(Image(signature, signature.constants))  # type: ignore[arg-type]  # a build has ints only
    return tuple(images)
