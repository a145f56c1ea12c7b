"""Attributes of kernels and of kernel nodes, between the driver and names with values.

Guarantees that every attribute that changes how a kernel runs is kept or refused. Those that hold an address, an event
or a handle of the device are refused where they are set; those that the driver does not know are none.
"""

import ctypes as c
from collections.abc import Mapping
from typing import Any

from cuda.bindings import driver as cu

from cgraph.backends.cuda.calls import Calls
from cgraph.backends.cuda.imported.attribute_names import FUNCTION_ATTRIBUTES, NODE_ATTRIBUTES, REFUSED_ATTRIBUTES

SUCCESS = cu.CUresult.CUDA_SUCCESS
VALUE_BYTES = 64  # CUlaunchAttributeValue


def read_function_attributes(call: Calls, function: Any) -> tuple[tuple[str, int], ...]:
    """Names and values. Raises ProblemsFound (CG742)."""
    return tuple(
        (name, int(call(cu.cuFuncGetAttribute, cu.CUfunction_attribute(number), function)))
        for name, number in FUNCTION_ATTRIBUTES.items()
    )


def apply_function_attributes(call: Calls, function: Any, attributes: tuple[tuple[str, int], ...]) -> None:
    """Sets those that differ. Raises ProblemsFound (CG742)."""
    present = dict(read_function_attributes(call, function))
    for name, value in attributes:
        if present[name] != value:
            call(cu.cuFuncSetAttribute, function, cu.CUfunction_attribute(FUNCTION_ATTRIBUTES[name]), value)


def read_node_attributes(node: Any) -> tuple[tuple[str, bytes], ...] | str:
    """Names and bytes of those that are set, or why the node can't be imported."""
    for name, (number, part) in REFUSED_ATTRIBUTES.items():
        if any(_value(node, number)[part]):
            return f"its launch attribute {name} names something of this process"
    found = ((name, _value(node, number)[:size]) for name, (number, size) in NODE_ATTRIBUTES.items())
    return tuple((name, value) for name, value in found if any(value))


def apply_node_attributes(call: Calls, node: Any, attributes: Mapping[str, bytes]) -> None:
    """Sets those that differ. Raises ProblemsFound (CG742)."""
    for name, data in attributes.items():
        number, size = NODE_ATTRIBUTES[name]
        if _value(node, number)[:size] != data:
            value = cu.CUkernelNodeAttrValue()
            c.memmove(value.getPtr(), data, size)
            call(cu.cuGraphKernelNodeSetAttribute, node, cu.CUlaunchAttributeID(number), value)


def _value(node: Any, number: int) -> bytes:
    """The bytes of an attribute; nothing where the driver does not know it."""
    try:
        identifier = cu.CUlaunchAttributeID(number)
    except ValueError:
        # A binding that is older than the attribute: no program that uses it can have set it.
        return bytes(VALUE_BYTES)
    result, value = cu.cuGraphKernelNodeGetAttribute(node, identifier)
    return c.string_at(value.getPtr(), VALUE_BYTES) if result == SUCCESS else bytes(VALUE_BYTES)
