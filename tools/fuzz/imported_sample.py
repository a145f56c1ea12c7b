"""An imported graph that has every kind of node, made by hand; no driver is needed."""

import numpy as np

from cgraph.backends.cuda.imported.attribute_names import FUNCTION_ATTRIBUTES
from cgraph.backends.cuda.imported.model import (
    Allocation,
    ChildGraphNode,
    CodeForm,
    CopySide,
    Edge,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    ImportedCode,
    ImportedGraph,
    ImportedKernel,
    ImportedPlane,
    KernelNode,
    Level,
    MemcpyNode,
    MemoryKind,
    MemsetNode,
    ParameterPlace,
    Place,
    Relocation,
)

DEVICE = MemoryKind.DEVICE


def every_kind() -> ImportedGraph:
    """A fill, a kernel of (pointer, i8, i32), a copy in 3-D, an event, an empty node and a child graph."""
    kernel = ImportedKernel(
        "_Z4workPfai",
        (ParameterPlace(0, 8), ParameterPlace(8, 1), ParameterPlace(12, 4)),
        (0, 1),
        tuple((name, number) for number, name in enumerate(FUNCTION_ATTRIBUTES)),
    )
    arguments = bytes([0] * 8 + [0xFB, 0, 0, 0, 1, 2, 3, 4])
    launch = KernelNode(
        0, (2, 3, 1), (32, 2, 1), 16, arguments, (Relocation(0, Place(0, 4)),), (("priority", b"\xff\xff\xff\xff"),)
    )
    copied = MemcpyNode(CopySide(Place(1, 0), 4, 2), CopySide(Place(0, 2), 8, 4), 4, 2, 3)
    return ImportedGraph(
        capability=(9, 0),
        allocations=(Allocation(256, DEVICE), Allocation(24, MemoryKind.HOST), Allocation(8, MemoryKind.MANAGED)),
        planes=(
            ImportedPlane("weights", 0, 0, 256),
            ImportedPlane("host allocation 1 (24 bytes)", 1, 0, 24),
            ImportedPlane("managed allocation 2 (8 bytes)", 2, 0, 8),
            ImportedPlane("part", 0, 128, 64),
        ),
        codes=(
            ImportedCode(CodeForm.PTX, "compute_80", b".version 8.0\n.target sm_80\n"),
            ImportedCode(CodeForm.CUBIN, "sm_90", b"\x7fELF\x00\x01"),
        ),
        kernels=(kernel,),
        levels=(
            Level(
                (
                    MemsetNode(Place(0, 8), 16, 0x1234, 2, 3, 2),
                    launch,
                    copied,
                    EventRecordNode(0),
                    EventWaitNode(0),
                    ChildGraphNode(1),
                ),
                (Edge(0, 1), Edge(1, 2, 1, 0, 1), Edge(2, 3), Edge(3, 4), Edge(4, 5)),
            ),
            Level((EmptyNode(), MemsetNode(Place(2, 0), 0, 255, 1, 8, 1)), (Edge(1, 0),)),
        ),
        events=1,
        data={1: np.arange(24, dtype=np.uint8)},
        remarks=("node 1 (kernel _Z4workPfai), parameter 2, …",),
    )
