import numpy as np
import pytest
from image_cases import HALVES, Half, context, f64, normal, poisoned

from cgraph.images import layout


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize(("heads", "rows", "columns"), [(1, 1, 1), (3, 7, 5), (2, 300, 33), (1, 33, 513)])
def test_head_transpose(half: Half, heads: int, rows: int, columns: int) -> None:
    source = normal((heads, rows, columns), half.half, 1)
    out = poisoned((heads, columns, rows), half.half)
    layout.head_transpose(context(), out=out, in_=source, rows=rows, columns=columns, heads=heads)
    assert np.array_equal(f64(out), np.einsum("hrc->hcr", f64(source)))


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
@pytest.mark.parametrize(("heads", "seq", "head_width"), [(1, 1, 1), (3, 7, 5), (2, 300, 33)])
@pytest.mark.parametrize("transposed", [False, True])
def test_token_to_head(half: Half, heads: int, seq: int, head_width: int, transposed: bool) -> None:
    source = normal((seq, heads * head_width), half.wide, 1)
    out = poisoned((heads, seq, head_width), half.half)
    out_t = poisoned((heads, head_width, seq), half.half) if transposed else None
    layout.token_to_head(context(), out=out, out_t=out_t, in_=source, cg_heads=heads, cg_head_width=head_width)
    for head in range(heads):
        channels = source[:, head * head_width : (head + 1) * head_width].astype(half.half)
        assert np.array_equal(f64(out[head]), f64(channels))
        if out_t is not None:
            assert np.array_equal(f64(out_t[head]), f64(channels).T)
