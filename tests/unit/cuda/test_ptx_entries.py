"""Facts are read from texts that the PTX ISA's grammar and ptxas produce; both are written here by hand."""

import pytest

from cgraph.backends.cuda.entries import Entry, Parameter, Resources, read_entries, read_resources

PTX = """
.version 9.5
.target sm_80
.address_size 64
	// .globl	first
.visible .entry first(
	.param .u64 first_param_0,
	.param .u64 .ptr .global .align 16 first_param_1,
	.param .u32 first_param_2,
	.param .f32 first_param_3,
	.param .align 8 .b8 first_param_4[24]
)
.maxntid 32, 8, 1
.minnctapersm 2
{
	ld.param.u64 	%rd1, [first_param_0];
	ret;
}
.func (.param .b32 out) helper(.param .b32 in) { ret; }
.entry without_parameters
{
	ret;
}
"""
LOG = """
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
ptxas         .     40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 49152 bytes smem, 32 bytes cmem[2]
ptxas info    : Compiling entry function 'without_parameters' for 'sm_80'
ptxas info    : Function properties for without_parameters
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
"""


def test_entries() -> None:
    assert read_entries(PTX, LOG) == (
        Entry(
            "first",
            (Parameter("u64", 8), Parameter("u64", 8), Parameter("u32", 4), Parameter("f32", 4), Parameter("b8", 24)),
            256,
            Resources(255, 49152, 40, 36, 44),
        ),
        Entry("without_parameters", (), None, Resources(4, 0, 0, 0, 0)),
    )


def test_without_an_assembler_there_are_no_resources() -> None:
    assert [entry.resources for entry in read_entries(PTX, "")] == [None, None]


@pytest.mark.parametrize(("stores", "loads", "spills"), [(0, 0, False), (4, 0, True), (0, 4, True)])
def test_spills(stores: int, loads: int, spills: bool) -> None:
    log = LOG.replace("36 bytes spill stores, 44", f"{stores} bytes spill stores, {loads}")
    assert read_resources(log)["first"].spills is spills
