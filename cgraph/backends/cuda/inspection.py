"""What the kernels of images take on a device, as the `kernels` command shows it."""

from collections.abc import Sequence

from attrs import frozen

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiler import compile_images
from cgraph.backends.cuda.entries import Resources
from cgraph.backends.cuda.occupancy import Occupancy, occupancy
from cgraph.core.elements import Element
from cgraph.graph.model import Image


@frozen(eq=False)
class KernelFacts:
    """One image's kernel on one architecture.

    Args:
        resources: as the assembler reports them.
        block_threads: as declared; None where it depends on a launch.
        dynamic_shared_bytes: the same.
        occupancy: at the declared block; None where something of it is not known.
        code_bytes: of the module, which images of one file share.
    """

    image: Image
    architecture: str
    resources: Resources
    block_threads: int | None
    dynamic_shared_bytes: int | None
    occupancy: Occupancy | None
    code_bytes: int


def inspect_kernels(images: Sequence[Image], half: Element, architecture: str) -> tuple[KernelFacts, ...]:
    """Compiles the images' kernels to machine code and says what each takes, in the images' order.

    Args:
        images: with sizes put in.
        half: what `half` stands for.
        architecture: e.g. `sm_90`.

    Raises:
        ProblemsFound: CG730 to CG739.
    """
    facts = []
    for kernel in compile_images(images, half, architecture, CodeKind.CUBIN):
        resources = kernel.entry.resources
        if resources is None:
            raise ValueError(f"no resources were reported for {kernel.entry.name}")
        signature = kernel.image.signature
        x, y, z = signature.block
        threads = x * y * z if isinstance(x, int) and isinstance(y, int) and isinstance(z, int) else None
        dynamic = signature.shared_bytes if isinstance(signature.shared_bytes, int) else None
        held = None
        if threads is not None and dynamic is not None:
            held = occupancy(architecture, resources, threads, dynamic)
        facts.append(
            KernelFacts(kernel.image, architecture, resources, threads, dynamic, held, len(kernel.module.code))
        )
    return tuple(facts)
