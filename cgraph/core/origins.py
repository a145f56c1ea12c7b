"""Where a command comes from: the steps from an entry point to it."""

from attrs import field, frozen

from cgraph.source import Source, Span


@frozen(eq=False)
class Origin:
    """One step of the way from an entry point to a command; `parent` is the step before, None at the entry.

    Args:
        span: the call, loop, launch, fill or copy.
        text: what the step is, e.g. `cgLayerBackward` for a call or `l = 3` for a loop.
    """

    span: Span
    text: str
    parent: "Origin | None" = field(default=None, repr=False)

    def innermost_in(self, source: Source) -> "Origin | None":
        """The last step that lies in one source, None where no step does."""
        step: Origin | None = self
        while step is not None and step.span.source is not source:
            step = step.parent
        return step

    def chain(self) -> "tuple[Origin, ...]":
        """All steps, the entry's first."""
        steps = []
        step: Origin | None = self
        while step is not None:
            steps.append(step)
            step = step.parent
        return tuple(reversed(steps))
