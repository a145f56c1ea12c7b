"""The way from an entry point to a command, in words.

Receives origins; guarantees short, deterministic lines, innermost first. Printing the places themselves is left to the
renderer.
"""

from cgraph.core.origins import Origin
from cgraph.source import Span

MAX_STEPS = 6


def origin_notes(origin: Origin) -> tuple[str, ...]:
    """One line for each call around the command, e.g. `in cgLayerBackward, called at layer.cg:9:3; l = 3`.

    The command's own step and the entry are left out: the first is the problem's span, the second says nothing new.
    Loop steps join the line of the call that they surround; a loop with no call inside it has a line of its own. Past
    `MAX_STEPS` lines the middle is one line that counts what it hides.
    """
    lines: list[str] = []
    step = origin.parent
    inside_call = False
    while step is not None and step.parent is not None:
        if " = " not in step.text:
            lines.append(f"in {step.text}, called at {step.span.place}")
            inside_call = True
        elif inside_call:
            lines[-1] += f"; {step.text}"
        else:
            lines.append(f"where {step.text}")
        step = step.parent
    if len(lines) > MAX_STEPS:
        hidden = len(lines) - (MAX_STEPS - 1)
        lines[MAX_STEPS // 2 : MAX_STEPS // 2 + hidden] = [f"… {hidden} more calls …"]
    return tuple(lines)


def short_place(span: Span) -> str:
    """`file:line:column` with the file's base name, so that text forms do not depend on where a program lies."""
    name = span.source.name.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{span.line}:{span.column}"
