"""The structures of cuda.h (CUDA 12.3 to 13) that driver calls pass by address.

Fields have the names of cuda.h; handles and addresses are integers.
"""

import ctypes as c

HANDLE = c.c_uint64  # a pointer or a CUdeviceptr: both have 64 bits, and 0 reads as 0, not as None


class KernelNodeParams(c.Structure):
    """CUDA_KERNEL_NODE_PARAMS, version 2 (and 3)."""

    _fields_ = (
        ("func", HANDLE),
        ("gridDimX", c.c_uint),
        ("gridDimY", c.c_uint),
        ("gridDimZ", c.c_uint),
        ("blockDimX", c.c_uint),
        ("blockDimY", c.c_uint),
        ("blockDimZ", c.c_uint),
        ("sharedMemBytes", c.c_uint),
        ("kernelParams", HANDLE),
        ("extra", HANDLE),
        ("kern", HANDLE),
        ("ctx", HANDLE),
    )


class MemsetNodeParams(c.Structure):
    """CUDA_MEMSET_NODE_PARAMS, version 1."""

    _fields_ = (
        ("dst", HANDLE),
        ("pitch", c.c_size_t),
        ("value", c.c_uint),
        ("elementSize", c.c_uint),
        ("width", c.c_size_t),
        ("height", c.c_size_t),
    )


class MemsetNodeParamsWithContext(c.Structure):
    """CUDA_MEMSET_NODE_PARAMS, version 2."""

    _fields_ = (("params", MemsetNodeParams), ("ctx", HANDLE))


class Memcpy3D(c.Structure):
    """CUDA_MEMCPY3D, version 2."""

    _fields_ = (
        ("srcXInBytes", c.c_size_t),
        ("srcY", c.c_size_t),
        ("srcZ", c.c_size_t),
        ("srcLOD", c.c_size_t),
        ("srcMemoryType", c.c_uint),
        ("srcHost", HANDLE),
        ("srcDevice", HANDLE),
        ("srcArray", HANDLE),
        ("reserved0", HANDLE),
        ("srcPitch", c.c_size_t),
        ("srcHeight", c.c_size_t),
        ("dstXInBytes", c.c_size_t),
        ("dstY", c.c_size_t),
        ("dstZ", c.c_size_t),
        ("dstLOD", c.c_size_t),
        ("dstMemoryType", c.c_uint),
        ("dstHost", HANDLE),
        ("dstDevice", HANDLE),
        ("dstArray", HANDLE),
        ("reserved1", HANDLE),
        ("dstPitch", c.c_size_t),
        ("dstHeight", c.c_size_t),
        ("WidthInBytes", c.c_size_t),
        ("Height", c.c_size_t),
        ("Depth", c.c_size_t),
    )


class MemcpyNodeParams(c.Structure):
    """CUDA_MEMCPY_NODE_PARAMS."""

    _fields_ = (("flags", c.c_int), ("reserved", c.c_int), ("copyCtx", HANDLE), ("copyParams", Memcpy3D))


class ChildGraphNodeParams(c.Structure):
    """CUDA_CHILD_GRAPH_NODE_PARAMS."""

    _fields_ = (("graph", HANDLE), ("ownership", c.c_int))


class EventNodeParams(c.Structure):
    """CUDA_EVENT_RECORD_NODE_PARAMS; that of a wait has the first field only."""

    _fields_ = (("event", HANDLE), ("ctx", HANDLE))


class HostNodeParams(c.Structure):
    """CUDA_HOST_NODE_PARAMS, version 1."""

    _fields_ = (("fn", HANDLE), ("userData", HANDLE))


class _AnyNodeParams(c.Union):
    _fields_ = (
        ("kernel", KernelNodeParams),
        ("memcpy", MemcpyNodeParams),
        ("memset", MemsetNodeParamsWithContext),
        ("host", HostNodeParams),
        ("graph", ChildGraphNodeParams),
        ("event", EventNodeParams),
        ("reserved1", c.c_longlong * 29),
    )


class GraphNodeParams(c.Structure):
    """CUgraphNodeParams: a type and the parameters of that type."""

    _fields_ = (("type", c.c_int), ("reserved0", c.c_int * 3), ("of", _AnyNodeParams), ("reserved2", c.c_longlong))


class EdgeData(c.Structure):
    """CUgraphEdgeData."""

    _fields_ = (
        ("from_port", c.c_ubyte),
        ("to_port", c.c_ubyte),
        ("type", c.c_ubyte),
        ("reserved", c.c_ubyte * 5),
    )


class UpdateResultInfo(c.Structure):
    """CUgraphExecUpdateResultInfo."""

    _fields_ = (("result", c.c_int), ("errorNode", HANDLE), ("errorFromNode", HANDLE))


class InstantiateParams(c.Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS."""

    _fields_ = (
        ("flags", c.c_uint64),
        ("hUploadStream", HANDLE),
        ("hErrNode_out", HANDLE),
        ("result_out", c.c_int),
    )


class LaunchAttribute(c.Structure):
    """CUlaunchAttribute; the value is kept as bytes."""

    _fields_ = (("id", c.c_int), ("pad", c.c_int), ("value", c.c_ubyte * 64))


class LaunchConfig(c.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("gridDimX", c.c_uint),
        ("gridDimY", c.c_uint),
        ("gridDimZ", c.c_uint),
        ("blockDimX", c.c_uint),
        ("blockDimY", c.c_uint),
        ("blockDimZ", c.c_uint),
        ("sharedMemBytes", c.c_uint),
        ("hStream", HANDLE),
        ("attrs", HANDLE),
        ("numAttrs", c.c_uint),
    )


class MemoryType:
    """CUmemorytype."""

    HOST = 1
    DEVICE = 2
    ARRAY = 3
    UNIFIED = 4


class NodeType:
    """CUgraphNodeType."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5
    WAIT_EVENT = 6
    EVENT_RECORD = 7
