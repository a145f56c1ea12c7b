"""Looks for small values of the symbols for which a relation between two naturals is false.

The search is bounded and the same in every run: first small sizes in the order of their sum, so that the values shown
are as small as can be; then one large size among small ones, near the numbers that occur in the naturals.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, pairwise, product

from cgraph.core.arithmetic import DivisionByZero
from cgraph.core.compiling import compile_natural
from cgraph.core.polynomials import Natural, Symbol, SymbolKind, opaques_inside_out, symbols, terms_of

MOST_EVALUATIONS = 2000
MOST_SMALL_SIZES = 1200
MOST_SYMBOLS = 12
# A loop's variable takes these many first values, and its last one.
MOST_LOOP_VALUES = 4
TELLING_SIZES = (16, 33, 65, 129, 257, 1025, 65_537)


def find_counterexample(
    left: Natural, right: Natural, relation: Callable[[int, int], bool]
) -> tuple[Mapping[Symbol, int], int, int] | None:
    """Values of the symbols, and the two sides for them, for which the relation is false; None where none was found.

    None also where a symbol may be any natural, see `comparison`.
    """
    ordered = _in_order_of_bounds(symbols(left) | symbols(right))
    if ordered is None:
        return None
    sides = (compile_natural(left, ordered), compile_natural(right, ordered))
    parameters = [symbol for symbol in ordered if symbol.bound is None]
    bounds = [
        compile_natural(symbol.bound, ordered[:place])
        for place, symbol in enumerate(ordered)
        if symbol.bound is not None
    ]
    evaluations = 0
    for sizes in _sizes(len(parameters), _numbers_in(left, right)):
        for values in _with_variables(sizes, bounds):
            evaluations += 1
            if evaluations > MOST_EVALUATIONS:
                return None
            if values is None:
                continue
            try:
                left_value, right_value = (side(*values) for side in sides)
            except DivisionByZero:
                continue
            if not relation(left_value, right_value):
                return dict(zip(ordered, values, strict=True)), left_value, right_value
    return None


def _in_order_of_bounds(found: frozenset[Symbol]) -> list[Symbol] | None:
    """Parameters, then variables after all that their bounds mention; None where some symbol may be anything."""
    parameters: set[Symbol] = set()
    variables: dict[Symbol, frozenset[Symbol]] = {}
    waiting = sorted(found)
    while waiting:
        symbol = waiting.pop()
        if symbol in variables or symbol in parameters:
            continue
        if symbol.bound is not None:
            variables[symbol] = symbols(symbol.bound)
            waiting += sorted(variables[symbol])
        elif symbol.kind is SymbolKind.PARAMETER:
            parameters.add(symbol)
        else:
            return None
        if len(parameters) + len(variables) > MOST_SYMBOLS:
            return None
    ordered = sorted(parameters)
    while variables:
        ready = min(symbol for symbol, mentioned in variables.items() if mentioned.isdisjoint(variables))
        ordered.append(ready)
        del variables[ready]
    return ordered


def _sizes(count: int, numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Values of the parameters."""
    if count == 0:
        return iter([()])
    large = sorted({size for number in numbers for size in (number, number + 1) if size > 1} | set(TELLING_SIZES))
    one_large = (
        tuple(size if other == place else rest for other in range(count))
        for rest in (1, 2)
        for size in large
        for place in range(count)
    )
    all_large = ((size,) * count for size in large)
    return chain(_small_sizes(count), one_large, all_large)


def _small_sizes(count: int) -> Iterator[tuple[int, ...]]:
    """Tuples of sizes from 1, in the order of their sum."""
    made = 0
    total = count
    while made < MOST_SMALL_SIZES and total < count + 64:
        # Where to cut a row of `total` units into `count` parts.
        for cuts in combinations(range(1, total), count - 1):
            edges = (0, *cuts, total)
            yield tuple(stop - start for start, stop in pairwise(edges))
            made += 1
            if made == MOST_SMALL_SIZES:
                return
        total += 1


def _with_variables(values: tuple[int, ...], bounds: Sequence[Callable[..., int]]) -> Iterator[tuple[int, ...] | None]:
    """The values with those of the variables that follow; None stands for a loop that does not run, to be counted."""
    if not bounds:
        yield values
        return
    loop_values = _loop_values(bounds[0], values)
    for value in loop_values:
        yield from _with_variables((*values, value), bounds[1:])
    if not loop_values:
        yield None


def _loop_values(bound: Callable[..., int], values: tuple[int, ...]) -> Sequence[int]:
    try:
        stop = bound(*values)
    except DivisionByZero:
        return ()
    return range(stop) if stop <= MOST_LOOP_VALUES else (*range(MOST_LOOP_VALUES - 1), stop - 1)


def _numbers_in(*naturals: Natural) -> list[int]:
    """The numbers from which a size may make a difference: those in the naturals, and their products by pairs."""
    numbers = {1}
    for natural in naturals:
        sides = [natural, *chain.from_iterable((part.left, part.right) for part in opaques_inside_out(natural))]
        for side in sides[:32]:
            numbers.update(list(terms_of(side).values())[:32])
    small = sorted(numbers)[:16]
    return sorted({first * second for first, second in product(small, small)})
