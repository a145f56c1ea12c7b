"""What can't be imported is a problem that names the node, the kernel or the argument, all of them in one report."""

import ctypes as c
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cu
from driver_fixtures import copy_params, fill_params, function, kernel_params, upload

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.model import CodeForm, KernelNode
from cgraph.backends.cuda.imported.reading_levels import GraphWalk
from cgraph.backends.cuda.imported.reading_memory import MemoryReader
from cgraph.backends.cuda.imported.resolving import Resolver
from cgraph.capture.imported.api import from_cuda_graph
from cgraph.emulator.driver.graphs import node_of
from tests.support.driver_kernels import ADD_ONE, HEAD, MODULE, SCALE
from tests.support.emulated import INSTALLATION, call
from tests.support.imported_graphs import STRUCTURE, cubin_of, ptx_of, refusals

# CUgraphNodeType of nodes that the emulated driver does not make.
UNMADE = {
    8: "ext semas signal",
    9: "ext semas wait",
    10: "mem alloc",
    11: "mem free",
    12: "batch mem op",
    13: "conditional",
}


def told(problems: Any) -> list[str]:
    return [f"{problem.code} {problem.render_title()}" for problem in problems]


class OtherWork:
    """Work of a type that the emulated driver does not make."""

    def __init__(self, type_: int) -> None:
        self.type = type_


def add_one(graph: Any, module: Any, address: int, count: int = 4) -> Any:
    params = kernel_params(function(module, "addOne"), 1, 4, (address, count), (c.c_void_p, c.c_int))
    return call(cu.cuGraphAddKernelNode, graph, [], 0, params)


def test_all_nodes_that_are_refused_are_in_one_report(graph: Any) -> None:
    @c.CFUNCTYPE(None, c.c_void_p)
    def nothing(_: int) -> None: ...

    params = cu.CUDA_HOST_NODE_PARAMS()
    params.fn = c.cast(nothing, c.c_void_p).value
    call(cu.cuGraphAddHostNode, graph, [], 0, params)
    for kind in UNMADE:
        node = call(cu.cuGraphAddEmptyNode, graph, [], 0)
        node_of(INSTALLATION.driver, int(node)).work = OtherWork(kind)  # type: ignore[assignment]  # of no type there
    inner = call(cu.cuGraphCreate, 0)
    call(cu.cuGraphAddHostNode, inner, [], 0, params)
    call(cu.cuGraphAddChildGraphNode, graph, [], 0, inner)
    found = refusals(graph)
    assert {problem.code for problem in found} == {"CG851"}
    names = [problem.render_title().split(" can't be imported: ")[0] for problem in found]
    expected = [f"node {1 + number} ({name})" for number, name in enumerate(UNMADE.values())]
    assert names == ["node 0 (host)", *expected, "node 0 of child graph 1 (host)"]


def test_a_type_of_node_without_a_name(graph: Any) -> None:
    node = call(cu.cuGraphAddEmptyNode, graph, [], 0)
    node_of(INSTALLATION.driver, int(node)).work = OtherWork(99)  # type: ignore[assignment]  # of no type there
    (found,) = refusals(Held(graph))
    assert told([found]) == ["CG851 node 0 can't be imported: its type is not known here"]


def test_arrays_are_refused(graph: Any) -> None:
    address = upload(np.zeros(8, np.uint8))
    node = call(cu.cuGraphAddMemcpyNode, graph, [], 0, copy_params(address, address + 4, 4), None)
    work: Any = node_of(INSTALLATION.driver, int(node)).work
    raw = bytearray(work.params)
    # srcMemoryType stands behind four sizes.
    raw[32] = 3
    object.__setattr__(work, "params", bytes(raw))
    (found,) = refusals(graph)
    assert told([found]) == [
        "CG851 node 0 (memcpy) can't be imported: it copies from or to an array, whose layout the driver does not tell"
    ]


class Discarded:
    """As torch's CUDAGraph without keep_graph."""

    def raw_cuda_graph(self) -> int:
        raise RuntimeError("the graph was not kept")


class Held:
    """As objects of cuda.core."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle


@pytest.mark.parametrize("given", [0, None, "graph", 3.5, Discarded(), Held(None), Held(Held(0))])
def test_what_is_no_graph(context: Any, given: Any) -> None:
    del context
    (found,) = refusals(given)
    assert found.code == "CG850"
    assert list(found.notes()) == (["the graph was not kept"] if isinstance(given, Discarded) else [])


def test_an_instantiated_graph_is_none(graph: Any) -> None:
    executable = call(cu.cuGraphInstantiate, graph, 0)
    (found,) = refusals(executable)
    assert found.code == "CG850"
    assert "instantiated already" in " ".join(found.helps())


def test_missing_code_lists_the_kernels(graph: Any, module: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    add_one(graph, module, address)
    params = kernel_params(function(module, "scale"), 1, 4, (address, 4, 2.0), (c.c_void_p, c.c_int, c.c_float))
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    (found,) = refusals(graph)
    assert told([found]) == ["CG852 there is no code for 2 kernel(s) of the graph"]
    assert list(found.notes())[:2] == ["addOne, parameters of 8, 4 bytes", "scale, parameters of 8, 4, 4 bytes"]
    # Code with a kernel of that name whose parameters differ is none of it.
    other = (HEAD + ADD_ONE.replace(".param .u32 addOne_1", ".param .u64 addOne_1") + SCALE).replace(
        "ld.param.u32 %r1, [addOne_1]", "ld.param.u64 %rd5, [addOne_1]"
    )
    (found,) = refusals(graph, code=[other])
    assert list(found.notes())[:1] == ["addOne, parameters of 8, 4 bytes"]


def test_code_in_every_form(graph: Any, module: Any, tmp_path: Path) -> None:
    class HasCode:
        code = MODULE.encode()

    add_one(graph, module, upload(np.zeros(4, np.int32)))
    path = tmp_path / "kernels.ptx"
    path.write_text(MODULE)
    for code in (MODULE, MODULE.encode(), bytearray(MODULE.encode() + b"\0"), path, str(path), HasCode()):
        assert from_cuda_graph(graph, code=[code]).codes[0].data == MODULE.encode()


def test_code_that_is_none(graph: Any, tmp_path: Path) -> None:
    found = refusals(graph, code=[b"text", 7, tmp_path / "no.ptx", b"\x50\xed\x55\xba....", b"\x7fELF", (1, 2, 3)])
    assert [problem.code for problem in found] == ["CG854"] * 6
    assert [problem.number for problem in found] == list(range(6))  # type: ignore[attr-defined]  # of CG854


def test_a_cubin_that_does_not_load_here_counts_by_name(graph: Any) -> None:
    text = 'extern "C" __global__ void addOne(int* data, int n) { data[threadIdx.x] += 1; }'
    made = function(call(cu.cuModuleLoadData, ptx_of(text) + b"\0"), "addOne")
    params = kernel_params(made, 1, 4, (upload(np.zeros(4, np.int32)), 4), (c.c_void_p, c.c_int))
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    imported = from_cuda_graph(graph, code=[cubin_of(text), ptx_of(text), ptx_of(STRUCTURE)])
    assert [(code.form, code.architecture) for code in imported.codes] == [
        (CodeForm.CUBIN, "sm_90"),
        (CodeForm.PTX, "compute_80"),
    ]
    assert imported.kernels[0].codes == (0, 1)


def test_two_codes_and_two_modules_with_one_name(graph: Any, module: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    add_one(graph, module, address)
    other = MODULE.replace("add.s32 %r6, %r6, 1", "add.s32 %r6, %r6, 2")
    (found,) = refusals(graph, code=[MODULE, other])
    assert found.code == "CG853"
    assert from_cuda_graph(graph, code=[(module, other)]).codes[0].data == other.encode()
    second = call(cu.cuModuleLoadData, other.encode() + b"\0")
    add_one(graph, second, address)
    assert {problem.code for problem in refusals(graph, code=[MODULE])} == {"CG853"}
    imported = from_cuda_graph(graph, code=[(module, MODULE), (second, other)])
    assert [imported.codes[kernel.codes[0]].data for kernel in imported.kernels] == [MODULE.encode(), other.encode()]


def test_a_library_names_its_code(graph: Any) -> None:
    library = call(cu.cuLibraryLoadData, MODULE.encode(), [], [], 0, [], [], 0)
    kernel = call(cu.cuLibraryGetKernel, library, b"addOne")
    params = kernel_params(0, 1, 4, (upload(np.zeros(4, np.int32)), 4), (c.c_void_p, c.c_int))
    params.kern = kernel
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    assert from_cuda_graph(graph, code=[(library, MODULE)]).kernels[0].name == "addOne"


def test_numbers_that_look_like_addresses(graph: Any, module: Any) -> None:
    address, freed = upload(np.zeros(4, np.int32)), upload(np.zeros(4, np.int32))
    types = (c.c_void_p, c.c_int, c.c_uint8, c.c_void_p)
    params = kernel_params(function(module, "addTo"), 1, 4, (address, 4, 1, freed), types)
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    call(cu.cuMemFree, freed)
    imported = from_cuda_graph(graph, code=[MODULE])
    assert len(imported.allocations) == 1
    (remark,) = imported.remarks
    assert remark.startswith("node 0 (kernel addTo), parameter 3, is as large as an address, but lies in no live alloc")
    assert f"{freed:x}" not in remark
    (found,) = refusals(graph, code=[MODULE], pointers={"addTo": (0, 3)})
    assert told([found]) == ["CG855 node 0 (kernel addTo), parameter 3: its value lies in no live allocation"]


def test_a_number_that_is_declared_to_be_none(graph: Any, module: Any) -> None:
    """The value lies in a live allocation by chance: only a declaration can tell."""
    address, other = upload(np.zeros(4, np.int32)), upload(np.zeros(4, np.int32))
    types = (c.c_void_p, c.c_int, c.c_uint8, c.c_void_p)
    params = kernel_params(function(module, "addTo"), 1, 4, (address, 4, 1, other), types)
    call(cu.cuGraphAddKernelNode, graph, [], 0, params)
    assert len(from_cuda_graph(graph, code=[MODULE]).allocations) == 2
    (node,) = from_cuda_graph(graph, code=[MODULE], pointers={"addTo": (0,)}).levels[0].nodes
    assert isinstance(node, KernelNode)
    assert [item.position for item in node.relocations] == [0]
    assert node.arguments[16:24] == other.to_bytes(8, "little")


def test_declarations_that_fit_nothing(graph: Any, module: Any) -> None:
    add_one(graph, module, upload(np.zeros(4, np.int32)))
    found = refusals(graph, code=[MODULE], pointers={"addOne": (1, 2), "other": (0,)})
    assert told(found) == [
        "CG855 node 0 (kernel addOne), parameter 1: it has 4 byte(s), an address has 8",
        "CG855 node 0 (kernel addOne), parameter 2: the kernel has 2 parameter(s)",
        "CG855 kernel other, parameter 0: the graph has no such kernel",
    ]


def test_memory_that_is_gone_or_too_small(graph: Any) -> None:
    address, freed = upload(np.zeros(8, np.uint8)), upload(np.zeros(8, np.uint8))
    call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(freed, 1, 2), None)
    call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address + 4, 1, 2), None)
    call(cu.cuGraphAddMemcpyNode, graph, [], 0, copy_params(address, freed, 8), None)
    call(cu.cuMemFree, freed)
    assert told(refusals(graph)) == [
        "CG856 node 0 (memset) touches memory that can't be kept: it lies in no live allocation",
        "CG856 node 1 (memset) touches memory that can't be kept: 8 byte(s) from byte 4 of an allocation of 8",
        "CG856 node 2 (memcpy) touches memory that can't be kept: it lies in no live allocation",
    ]


def test_names(graph: Any) -> None:
    address, other = upload(np.zeros(64, np.uint8)), upload(np.zeros(8, np.uint8))
    call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 1, 2), None)
    planes = from_cuda_graph(graph, names={address + 8: "b", address + 16: ("c", 4), address + 32: "d"}).planes
    assert [(plane.name, plane.offset, plane.size_bytes) for plane in planes] == [
        ("allocation 0 (64 bytes)", 0, 64),
        ("b", 8, 8),
        ("c", 16, 4),
        ("d", 32, 32),
    ]
    assert [plane.name for plane in from_cuda_graph(graph, names={address: "all"}).planes] == ["all"]
    names = {other: "other", address + 60: ("past", 8), address: "same", address + 4: "same", address + 8: "\n"}
    assert told(refusals(graph, names=names)) == [
        "CG857 the name `other` does not fit: the graph touches no allocation at its address",
        "CG857 the name `past` does not fit: 8 bytes from byte 60 of an allocation of 64",
        "CG857 the name `\n` does not fit: a name has 1 to 1000 printable characters",
        "CG857 the name `same` does not fit: it is given twice",
    ]


def test_attributes_that_name_something_of_the_process(graph: Any, module: Any) -> None:
    address = upload(np.zeros(4, np.int32))
    node = add_one(graph, module, address)
    value = cu.CUkernelNodeAttrValue()
    value.accessPolicyWindow.base_ptr, value.accessPolicyWindow.num_bytes = address, 16
    call(
        cu.cuGraphKernelNodeSetAttribute,
        node,
        cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        value,
    )
    (found,) = refusals(graph, code=[MODULE])
    assert found.code == "CG851"
    assert "access_policy_window" in found.render_title()


def test_memory_of_another_device(graph: Any) -> None:
    """The emulated device is number 0; to a graph that is read on device 1 its memory is another device's."""
    address = upload(np.zeros(4, np.int32))
    call(cu.cuGraphAddMemsetNode, graph, [], 0, fill_params(address, 1, 2), None)
    walk = GraphWalk(Calls())
    walk.walk(graph)
    resolver = Resolver(MemoryReader(Calls()), 1, {})
    resolver.use(walk.levels[0].nodes[0], "node 0")
    (found,) = told(resolver.problems)
    assert found.startswith("CG856 node 0 (memset)")
    assert found.endswith("it lies on device 0, and the graph is read on device 1")
