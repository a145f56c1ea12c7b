"""What a comparison answers for all values agrees with what single values show."""

from hypothesis import given
from hypothesis import strategies as st

from cgraph.core import naturals
from cgraph.core.comparison import Fails, Holds, compare_at_least, compare_equal, compare_less
from cgraph.core.naturals import Symbol
from tests.support.naturals import LOOPS, PARAMETERS, Meant, meant_naturals, values_of

SYMBOLS = (*PARAMETERS, *LOOPS)
RELATIONS = {
    compare_at_least: lambda left, right: left >= right,
    compare_less: lambda left, right: left < right,
    compare_equal: lambda left, right: left == right,
}


def _below_bounds(sizes: dict[Symbol, int], seeds: list[int]) -> dict[Symbol, int]:
    """Values of the loops' variables below their bounds, which here depend on parameters only."""
    values = dict(sizes)
    for loop, seed in zip(LOOPS, seeds, strict=True):
        assert loop.bound is not None
        stop = naturals.substitute(loop.bound, sizes)
        assert isinstance(stop, int)
        values[loop] = seed % stop
    return values


@given(
    st.sampled_from(list(RELATIONS)),
    meant_naturals(SYMBOLS),
    meant_naturals(SYMBOLS),
    st.lists(
        st.tuples(values_of(least=1), st.lists(st.integers(0, 10**6), min_size=2, max_size=2)), min_size=4, max_size=4
    ),
)
def test_what_holds_is_never_contradicted_and_what_fails_really_fails(
    compare: object, left: Meant, right: Meant, samples: list[tuple[dict[Symbol, int], list[int]]]
) -> None:
    verdict = compare(left.natural, right.natural)  # type: ignore[operator]  # keys of RELATIONS
    relation = RELATIONS[compare]  # type: ignore[index]  # keys of RELATIONS
    if isinstance(verdict, Fails):
        values = dict.fromkeys(PARAMETERS, 1) | dict.fromkeys(LOOPS, 0) | dict(verdict.counterexample)
        assert all(values[symbol] >= 1 for symbol in PARAMETERS)
        for loop in LOOPS:
            if loop in verdict.counterexample:
                assert loop.bound is not None
                assert values[loop] < naturals.substitute(loop.bound, values)  # type: ignore[operator]  # an int here
        # A meaning has no value where a part that does not matter divides by 0.
        assert left.value(values) in {verdict.left, None}
        assert right.value(values) in {verdict.right, None}
        assert not relation(verdict.left, verdict.right)
    if isinstance(verdict, Holds):
        for sizes, seeds in samples:
            values = _below_bounds(sizes, seeds)
            left_value, right_value = left.value(values), right.value(values)
            if left_value is not None and right_value is not None:
                assert relation(left_value, right_value)
