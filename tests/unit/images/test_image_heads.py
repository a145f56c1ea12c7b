import numpy as np
import pytest
from image_cases import HALVES, context, normal, poisoned

from cgraph.images import heads

SIZES = [(1, 1, 1), (7, 3, 5), (33, 2, 16), (300, 4, 8)]


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize(("seq", "count", "head_width"), SIZES)
def test_from_tokens_and_back(name: str, seq: int, count: int, head_width: int) -> None:
    half = HALVES[name]
    tokens = normal((seq, count, head_width), half.wide, 1)
    out = poisoned((count, seq, head_width), half.half)
    out_t = poisoned((count, head_width, seq), half.half)
    sizes = {"seq": seq, "heads": count, "head_width": head_width}
    heads.heads_from_tokens(context(), out=out, out_t=out_t, in_=tokens, **sizes)
    rounded = tokens.astype(half.half)
    for head in range(count):
        assert np.array_equal(out[head], rounded[:, head])
        assert np.array_equal(out_t[head], rounded[:, head].T)
    alone = poisoned(out.shape, half.half)
    heads.heads_from_tokens(context(), out=alone, out_t=None, in_=tokens, **sizes)
    assert np.array_equal(alone, out)
    alone_t = poisoned(out_t.shape, half.half)
    heads.heads_from_tokens(context(), out=None, out_t=alone_t, in_=tokens, **sizes)
    assert np.array_equal(alone_t, out_t)
    back = poisoned(tokens.shape, half.half)
    heads.tokens_from_heads(context(), out_half=back, in_=out.astype(half.wide), **sizes)
    assert np.array_equal(back, rounded)
