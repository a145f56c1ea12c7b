"""Which instructions the machine knows: each as a form, the way the PTX ISA writes it.

A form is `opcode`, then modifiers, then operands. `{a/b}` may be left out, `a/b` is one of several, `T:…` and `A:…` are
types that operands refer to. Operands:

    T     a source of type T, a register or a constant        2T   of twice its size
    =T    a destination of type T                             ~T   the register may be wider
    u32   a type by its name; pred is a predicate             =pred|pred  with its complement
    M     an address                                          L    a label
    4xT   a vector of four                                    *T   a vector of as many as v2 or v4 says
    ?X    may be left out                                     any  of type T, also a vector or a special register
    I     a natural number that the text gives
"""

from collections.abc import Iterator
from functools import cache

from attrs import frozen

INTEGERS = "u16/u32/u64/s16/s32/s64"
NARROW = "u16/u32/s16/s32"
BITS = "b16/b32/b64"
FLOATS = "f16/bf16/f32/f64"
WORDS = "b32/b64/u32/u64/s32/s64"
MEMORY = "b8/b16/b32/b64/u8/u16/u32/u64/s8/s16/s32/s64/f16/f32/f64"
HALVES = "f16/f16x2/bf16/bf16x2"
ORDER = "{sync} {aligned}"
ROUND = "{rn/rz/rm/rp}"
INT_ROUND = "{rni/rzi/rmi/rpi}"
COMPARE_INT = "eq/ne/lt/le/gt/ge/lo/ls/hi/hs"
COMPARE_FLOAT = "eq/ne/lt/le/gt/ge/equ/neu/ltu/leu/gtu/geu/num/nan"
HINTS = (
    "{ca/cg/cs/cv/lu/wb/wt} {L1::evict_normal/L1::evict_unchanged/L1::evict_first/L1::evict_last/L1::no_allocate} "
    "{L2::64B/L2::128B/L2::256B}"
)
STRENGTH = "{weak/volatile/relaxed/acquire/release} {cta/gpu/sys/cluster}"
SCOPES = "{relaxed/acquire/release/acq_rel} {cta/gpu/sys/cluster}"
ANYWHERE = "{global/shared/shared::cta}"

_TABLE = f"""
add       T:{INTEGERS}                              ; =T, T, T
add       sat T:s32                                 ; =T, T, T
add       {ROUND} {{ftz}} {{sat}} T:f32/f64         ; =T, T, T
add       {{rn}} {{ftz}} {{sat}} T:{HALVES}         ; =T, T, T
add       cc T:u32/s32/u64/s64                      ; =T, T, T
addc      {{cc}} T:u32/s32/u64/s64                  ; =T, T, T
sub       T:{INTEGERS}                              ; =T, T, T
sub       sat T:s32                                 ; =T, T, T
sub       {ROUND} {{ftz}} {{sat}} T:f32/f64         ; =T, T, T
sub       {{rn}} {{ftz}} {{sat}} T:{HALVES}         ; =T, T, T
sub       cc T:u32/s32/u64/s64                      ; =T, T, T
subc      {{cc}} T:u32/s32/u64/s64                  ; =T, T, T
mul       hi/lo T:{INTEGERS}                        ; =T, T, T
mul       wide T:{NARROW}                           ; =2T, T, T
mul       {ROUND} {{ftz}} {{sat}} T:f32/f64         ; =T, T, T
mul       {{rn}} {{ftz}} {{sat}} T:{HALVES}         ; =T, T, T
mul24     hi/lo T:u32/s32                           ; =T, T, T
mad       hi/lo T:{INTEGERS}                        ; =T, T, T, T
mad       wide T:{NARROW}                           ; =2T, T, T, 2T
mad       lo/hi cc T:u32/s32/u64/s64                ; =T, T, T, T
mad       hi sat T:s32                              ; =T, T, T, T
madc      lo/hi {{cc}} T:u32/s32/u64/s64            ; =T, T, T, T
mad24     lo T:u32/s32                              ; =T, T, T, T
mad       rn/rz/rm/rp {{ftz}} {{sat}} T:f32/f64     ; =T, T, T, T
fma       rn/rz/rm/rp {{ftz}} {{sat}} T:f32/f64     ; =T, T, T, T
fma       rn {{ftz}} {{sat}} {{relu}} T:{HALVES}    ; =T, T, T, T
div       T:{INTEGERS}                              ; =T, T, T
div       approx/full/rn/rz/rm/rp {{ftz}} T:f32     ; =T, T, T
div       rn/rz/rm/rp T:f64                         ; =T, T, T
rem       T:{INTEGERS}                              ; =T, T, T
min       {{relu}} T:{INTEGERS}                     ; =T, T, T
max       {{relu}} T:{INTEGERS}                     ; =T, T, T
min       {{ftz}} {{NaN}} {{xorsign}} {{abs}} T:f32/f64/{HALVES}    ; =T, T, T
max       {{ftz}} {{NaN}} {{xorsign}} {{abs}} T:f32/f64/{HALVES}    ; =T, T, T
abs       T:s16/s32/s64                             ; =T, T
abs       {{ftz}} T:f32/f64/{HALVES}                ; =T, T
neg       T:s16/s32/s64                             ; =T, T
neg       {{ftz}} T:f32/f64/{HALVES}                ; =T, T
sad       T:{INTEGERS}                              ; =T, T, T, T
dp4a      T:u32/s32 A:u32/s32                       ; =s32, T, A, s32
dp2a      lo/hi T:u32/s32 A:u32/s32                 ; =s32, T, A, s32
and       T:{BITS}                                  ; =T, T, T
or        T:{BITS}                                  ; =T, T, T
xor       T:{BITS}                                  ; =T, T, T
not       T:{BITS}                                  ; =T, T
cnot      T:{BITS}                                  ; =T, T
and       pred                                      ; =pred, pred, pred
or        pred                                      ; =pred, pred, pred
xor       pred                                      ; =pred, pred, pred
not       pred                                      ; =pred, pred
lop3      b32                                       ; =b32, b32, b32, b32, u32
shl       T:{BITS}                                  ; =T, T, u32
shr       T:{BITS}/{INTEGERS}                       ; =T, T, u32
shf       l/r wrap/clamp b32                        ; =b32, b32, b32, u32
bfe       T:u32/u64/s32/s64                         ; =T, T, u32, u32
bfi       T:b32/b64                                 ; =T, T, T, u32, u32
bfind     {{shiftamt}} T:u32/u64/s32/s64            ; =u32, T
brev      T:b32/b64                                 ; =T, T
popc      T:b32/b64                                 ; =u32, T
clz       T:b32/b64                                 ; =u32, T
prmt      b32 {{f4e/b4e/rc8/ecl/ecr/rc16}}          ; =b32, b32, b32, b32
set       {COMPARE_INT} D:u32/s32/f32 A:{BITS}/{INTEGERS}            ; =D, A, A
set       {COMPARE_FLOAT} {{ftz}} D:u32/s32/f32/{HALVES} A:f32/f64/{HALVES}   ; =D, A, A
setp      {COMPARE_INT} T:{BITS}/{INTEGERS}         ; =pred|pred, T, T
setp      {COMPARE_INT} and/or/xor T:{BITS}/{INTEGERS}              ; =pred|pred, T, T, pred
setp      {COMPARE_FLOAT} {{ftz}} T:f32/f64/f16/bf16                ; =pred|pred, T, T
setp      {COMPARE_FLOAT} and/or/xor {{ftz}} T:f32/f64/f16/bf16     ; =pred|pred, T, T, pred
setp      {COMPARE_FLOAT} {{ftz}} T:f16x2/bf16x2    ; =pred|pred, T, T
selp      T:{BITS}/{INTEGERS}/f32/f64               ; =T, T, T, pred
slct      {{ftz}} T:{BITS}/{INTEGERS}/f32/f64 A:s32/f32             ; =T, T, T, A
testp     finite/infinite/number/notanumber/normal/subnormal T:f32/f64   ; =pred, T
copysign  T:f32/f64                                 ; =T, T, T
rcp       approx/rn/rz/rm/rp {{ftz}} T:f32          ; =T, T
rcp       rn/rz/rm/rp T:f64                         ; =T, T
rcp       approx ftz f64                            ; =f64, f64
sqrt      approx/rn/rz/rm/rp {{ftz}} T:f32          ; =T, T
sqrt      rn/rz/rm/rp T:f64                         ; =T, T
rsqrt     approx {{ftz}} T:f32/f64                  ; =T, T
sin       approx {{ftz}} f32                        ; =f32, f32
cos       approx {{ftz}} f32                        ; =f32, f32
lg2       approx {{ftz}} f32                        ; =f32, f32
ex2       approx {{ftz}} T:f32/{HALVES}             ; =T, T
tanh      approx T:f32/{HALVES}                     ; =T, T
cvt       D:u8/u16/u32/u64/s8/s16/s32/s64 A:u8/u16/u32/u64/s8/s16/s32/s64        ; =~D, ~A
cvt       sat D:u8/u16/u32/u64/s8/s16/s32/s64 A:u8/u16/u32/u64/s8/s16/s32/s64    ; =~D, ~A
cvt       rni/rzi/rmi/rpi {{ftz}} {{sat}} D:u8/u16/u32/u64/s8/s16/s32/s64 A:f16/bf16/f32/f64   ; =~D, ~A
cvt       rn/rz/rm/rp {{ftz}} {{sat}} D:f16/bf16/f32/f64 A:u8/u16/u32/u64/s8/s16/s32/s64       ; =~D, ~A
cvt       {{rn/rz/rm/rp/rni/rzi/rmi/rpi/rna}} {{ftz}} {{relu}} {{sat}} D:{FLOATS}/tf32 A:{FLOATS}     ; =~D, ~A
cvt       rn/rz {{relu}} {{sat}} D:f16x2/bf16x2 A:f32               ; =D, A, A
mov       T:{BITS}/{INTEGERS}/f32/f64               ; =any, any
mov       pred                                      ; =pred, pred
cvta      {{to}} global/shared/local/const/param T:u64              ; =T, any
isspacep  global/shared/local/const/param/shared::cta               ; =pred, b64
ld        {{weak/volatile}} param T:{MEMORY}        ; =~T, M
ld        {{weak/volatile}} param v2/v4 T:{MEMORY}  ; =~*T, M
ld        const T:{MEMORY}                          ; =~T, M
ld        const v2/v4 T:{MEMORY}                    ; =~*T, M
ld        {STRENGTH} {{global/shared/shared::cta/local}} {{nc}} {HINTS} T:{MEMORY}         ; =~T, M
ld        {STRENGTH} {{global/shared/shared::cta/local}} {{nc}} {HINTS} v2/v4 T:{MEMORY}   ; =~*T, M
ldu       {{global}} T:{MEMORY}                     ; =~T, M
ldu       {{global}} v2/v4 T:{MEMORY}               ; =~*T, M
st        param T:{MEMORY}                          ; M, ~T
st        param v2/v4 T:{MEMORY}                    ; M, ~*T
st        {STRENGTH} {{global/shared/shared::cta/local}} {HINTS} T:{MEMORY}         ; M, ~T
st        {STRENGTH} {{global/shared/shared::cta/local}} {HINTS} v2/v4 T:{MEMORY}   ; M, ~*T
prefetch  {{global/local}} L1/L2                    ; M
prefetchu L1                                        ; M
atom      {SCOPES} {ANYWHERE} and/or/xor/exch T:b32/b64             ; =T, M, T
atom      {SCOPES} {ANYWHERE} cas T:b16/b32/b64     ; =T, M, T, T
atom      {SCOPES} {ANYWHERE} add T:u32/s32/u64/f32/f64             ; =T, M, T
atom      {SCOPES} {ANYWHERE} add noftz T:{HALVES}  ; =T, M, T
atom      {SCOPES} {ANYWHERE} min/max T:u32/s32/u64/s64             ; =T, M, T
atom      {SCOPES} {ANYWHERE} inc/dec T:u32         ; =T, M, T
red       {SCOPES} {ANYWHERE} and/or/xor T:b32/b64  ; M, T
red       {SCOPES} {ANYWHERE} add T:u32/s32/u64/f32/f64             ; M, T
red       {SCOPES} {ANYWHERE} add noftz T:{HALVES}  ; M, T
red       {SCOPES} {ANYWHERE} min/max T:u32/s32/u64/s64             ; M, T
red       {SCOPES} {ANYWHERE} inc/dec T:u32         ; M, T
cp        async ca {{shared/shared::cta}} global {{L2::64B/L2::128B/L2::256B}}    ; M, M, I, ?u32
cp        async cg {{shared/shared::cta}} global {{L2::64B/L2::128B/L2::256B}}    ; M, M, I, ?u32
cp        async commit_group                        ;
cp        async wait_group                          ; I
cp        async wait_all                            ;
shfl      sync up/down/bfly/idx b32             ; =b32|pred, b32, u32, u32, u32
vote      sync all/any/uni pred                     ; =pred, pred, u32
vote      sync ballot b32                           ; =b32, pred, u32
match     any sync T:b32/b64                        ; =b32, T, u32
match     all sync T:b32/b64                        ; =b32|pred, T, u32
activemask b32                                      ; =b32
redux     sync add/min/max T:u32/s32                ; =T, T, u32
redux     sync and/or/xor T:b32                     ; =T, T, u32
elect     sync                                      ; =b32|pred, u32
bar       {{cta}} sync                              ; u32, ?u32
bar       {{cta}} arrive                            ; u32, u32
bar       {{cta}} red popc u32                      ; =u32, u32, pred
bar       {{cta}} red popc u32                      ; =u32, u32, u32, pred
bar       {{cta}} red and/or pred                   ; =pred, u32, pred
bar       {{cta}} red and/or pred                   ; =pred, u32, u32, pred
bar       warp sync                                 ; u32
barrier   {{cta}} sync {{aligned}}                  ; u32, ?u32
barrier   {{cta}} arrive {{aligned}}                ; u32, u32
barrier   {{cta}} red popc {{aligned}} u32          ; =u32, u32, pred
barrier   {{cta}} red and/or {{aligned}} pred       ; =pred, u32, pred
membar    cta/gl/sys                                ;
fence     {{sc/acq_rel}} {{cta/gpu/sys/cluster}}    ;
nanosleep u32                                       ; u32
mma       sync aligned m16n8k16 row col f32 f16/bf16 f16/bf16 f32   ; =4xf32, 4xb32, 2xb32, 4xf32
mma       sync aligned m16n8k8 row col f32 f16/bf16 f16/bf16 f32    ; =4xf32, 2xb32, 1xb32, 4xf32
mma       sync aligned m16n8k8 row col f32 tf32 tf32 f32            ; =4xf32, 4xb32, 2xb32, 4xf32
mma       sync aligned m16n8k4 row col f32 tf32 tf32 f32            ; =4xf32, 2xb32, 1xb32, 4xf32
mma       sync aligned m16n8k16 row col f16 f16 f16 f16             ; =2xb32, 4xb32, 2xb32, 2xb32
mma       sync aligned m16n8k8 row col f16 f16 f16 f16              ; =2xb32, 2xb32, 1xb32, 2xb32
ldmatrix  sync aligned m8n8 x1 {{trans}} {{shared/shared::cta}} b16 ; =1xb32, M
ldmatrix  sync aligned m8n8 x2 {{trans}} {{shared/shared::cta}} b16 ; =2xb32, M
ldmatrix  sync aligned m8n8 x4 {{trans}} {{shared/shared::cta}} b16 ; =4xb32, M
stmatrix  sync aligned m8n8 x1 {{trans}} {{shared/shared::cta}} b16 ; M, 1xb32
stmatrix  sync aligned m8n8 x2 {{trans}} {{shared/shared::cta}} b16 ; M, 2xb32
stmatrix  sync aligned m8n8 x4 {{trans}} {{shared/shared::cta}} b16 ; M, 4xb32
movmatrix sync aligned m8n8 trans b16               ; =b32, b32
bra       {{uni}}                                   ; L
brx       idx {{uni}}                               ; u32, *L
ret       {{uni}}                                   ;
exit                                                ;
trap                                                ;
brkpt                                               ;
"""


@frozen
class Part:
    """One modifier of a form: its choices, whether it may be left out, and the letter that operands know it by."""

    choices: frozenset[str]
    optional: bool
    letter: str


@frozen
class Form:
    """One form of an instruction; `text` is as the table has it, `needed` how many operands must stand."""

    opcode: str
    parts: tuple[Part, ...]
    operands: tuple[str, ...]
    text: str
    needed: int

    def match(self, modifiers: tuple[str, ...]) -> dict[str, str] | None:
        """The types by letter if the modifiers are of this form."""
        letters: dict[str, str] = {}
        position = 0
        for part in self.parts:
            if position < len(modifiers) and modifiers[position] in part.choices:
                if part.letter:
                    letters[part.letter] = modifiers[position]
                position += 1
            elif not part.optional:
                return None
        return letters if position == len(modifiers) else None


def _read_form(line: str) -> Form:
    head, _, tail = line.partition(";")
    opcode, *items = head.split()
    parts = []
    for item in items:
        letter, found, choices = item.partition(":") if item[1:2] == ":" else ("", "", item)
        optional = choices.startswith("{")
        parts.append(Part(frozenset(choices.strip("{}").split("/")), optional, letter))
        del found
    operands = tuple(operand.strip() for operand in tail.split(",") if operand.strip())
    needed = sum(not operand.startswith("?") for operand in operands)
    return Form(opcode, tuple(parts), operands, " ".join(head.split()), needed)


@cache
def forms() -> dict[str, tuple[Form, ...]]:
    """All forms by opcode."""
    found: dict[str, list[Form]] = {}
    for line in _TABLE.strip().splitlines():
        form = _read_form(line)
        found.setdefault(form.opcode, []).append(form)
    return {opcode: tuple(each) for opcode, each in found.items()}


def all_forms() -> Iterator[Form]:
    """All forms, in the order of the table."""
    for each in forms().values():
        yield from each
