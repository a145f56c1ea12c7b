"""A few kernels in PTX, written by hand, for tests of the driver: each thread does one small thing."""

HEAD = """.version 8.0
.target sm_80
.address_size 64
"""

# number = block · threads + thread; leaves where number >= n. The array's element is at %rd3.
_THREAD = """
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [{name}_0];
    ld.param.u32 %r1, [{name}_1];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra $L__end_{name};
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd4, %r5, 4;
    add.s64 %rd3, %rd2, %rd4;
"""


def _kernel(name: str, more: str, body: str) -> str:
    parameters = f".param .u64 {name}_0, .param .u32 {name}_1{more}"
    return f".visible .entry {name}({parameters})\n{{{_THREAD.format(name=name)}{body}\n$L__end_{name}:\n    ret;\n}}\n"


# data[i] += 1, integers.
ADD_ONE = _kernel(
    "addOne",
    "",
    "    ld.global.u32 %r6, [%rd3];\n    add.s32 %r6, %r6, 1;\n    st.global.u32 [%rd3], %r6;",
)
# data[i] *= factor, f32.
SCALE = _kernel(
    "scale",
    ", .param .f32 scale_2",
    "    ld.param.f32 %f1, [scale_2];\n    ld.global.f32 %f2, [%rd3];\n    mul.f32 %f2, %f2, %f1;\n"
    "    st.global.f32 [%rd3], %f2;",
)
# out[i] = in[i] + value, integers; the value's two halves are parameters of 1 and 8 bytes, to test offsets.
ADD_TO = _kernel(
    "addTo",
    ", .param .u8 addTo_2, .param .u64 addTo_3",
    "    ld.param.u8 %r6, [addTo_2];\n    ld.param.u64 %rd5, [addTo_3];\n    cvta.to.global.u64 %rd6, %rd5;\n"
    "    add.s64 %rd7, %rd6, %rd4;\n    ld.global.u32 %r7, [%rd7];\n    add.s32 %r7, %r7, %r6;\n"
    "    st.global.u32 [%rd3], %r7;",
)
# Static shared memory, and a bound on its block.
BOUNDED = """.visible .entry bounded(.param .u64 bounded_0) .maxntid 64, 1, 1
{
    .shared .align 4 .b8 bounded_shared[1024];
    ret;
}
"""

MODULE = HEAD + ADD_ONE + SCALE + ADD_TO + BOUNDED
