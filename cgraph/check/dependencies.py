"""Which declarations need which, and an order in which each comes after those it needs.

Receives declarations by name; reports those that need themselves. Names that nothing declares are left to the rules.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from cgraph.check.problems_names import Recursion
from cgraph.diagnostics import Problem
from cgraph.source import Span
from cgraph.syntax import tree

Declared = (
    tree.ParameterDeclaration | tree.PhaseDeclaration | tree.PlaneDeclaration | tree.ImageDeclaration | tree.Definition
)


Needs = Mapping[str, Mapping[str, Span]]


def find_needs(declared: Mapping[str, Declared]) -> Needs:
    """For each declaration the declared names that it uses, each with its first place."""
    return {name: _needs(declaration, declared) for name, declaration in declared.items()}


def order_declarations(needs: Needs) -> tuple[list[str], list[Problem]]:
    """Names in an order of need, and a problem for each group that need each other; these are left out of the order."""
    order: list[str] = []
    problems: list[Problem] = []
    for group in _groups(needs):
        if len(group) > 1 or group[0] in needs[group[0]]:
            problems.append(_circle_problem(group, needs))
        else:
            order += group
    return order, problems


def _groups(needs: Needs) -> Iterator[list[str]]:
    """The groups of names that need each other, most of them of one name, each after those that it needs.

    Tarjan's algorithm: a group is done when its first member is, and until then all of it lies on `open_names`.
    """
    place: dict[str, int] = {}
    lowest: dict[str, int] = {}  # the first open name that can be reached from a name
    open_names: dict[str, None] = {}
    for root in needs:
        path = [] if root in place else [(root, iter(needs[root]))]
        while path:
            name, rest = path[-1]
            if name not in place:
                place[name] = lowest[name] = len(place)
                open_names[name] = None
            needed = next(rest, None)
            if needed is None:
                path.pop()
                if path:
                    around = path[-1][0]
                    lowest[around] = min(lowest[around], lowest[name])
                if lowest[name] == place[name]:
                    yield _take_group(open_names, name)
            elif needed not in place:
                path.append((needed, iter(needs[needed])))
            elif needed in open_names:
                lowest[name] = min(lowest[name], place[needed])


def _take_group(open_names: dict[str, None], first: str) -> list[str]:
    group: list[str] = []
    while not group or group[-1] != first:
        group.append(open_names.popitem()[0])
    return group[::-1]


def _circle_problem(group: list[str], needs: Needs) -> Problem:
    """The problem of a group that need each other: the shortest way from its first member back to it."""
    first, members = group[0], set(group)
    came_from: dict[str, str] = {}
    waiting = deque([first])
    while first not in came_from:
        name = waiting.popleft()
        for needed in needs[name]:
            if needed in members and needed not in came_from:
                came_from[needed] = name
                waiting.append(needed)
    circle = [came_from[first]]
    while circle[-1] != first:
        circle.append(came_from[circle[-1]])
    circle.reverse()
    following = [*circle[1:], first]
    uses = [(after, needs[name][after]) for name, after in zip(circle, following, strict=True)]
    first_use, span = uses[0]
    return Recursion(span, first, first_use, tuple(uses[1:]), len(group))


def _needs(declaration: Declared, declared: Mapping[str, Declared]) -> dict[str, Span]:
    found: dict[str, Span] = {}
    bound: dict[str, int] = {}
    stack: list[object] = list(reversed(list(_parts(declaration))))
    while stack:
        part = stack.pop()
        if isinstance(part, tree.Name):
            if part.text in declared and not bound.get(part.text) and part.text not in found:
                found[part.text] = part.span
        elif isinstance(part, _Bind):
            bound[part.name] = bound.get(part.name, 0) + part.change
        elif isinstance(part, tree.Apply):
            stack.extend(reversed(part.arguments))
            stack.append(part.function)
        else:
            stack.extend(_inner(part))
    return found


def _inner(part: object) -> Iterable[object]:
    """The parts of a term or type in reverse order; what binds a name marks where the name begins and ends."""
    if isinstance(part, tree.Lambda):
        return (*_scoped(part.name, part.body), part.type)
    if isinstance(part, tree.Let):
        outer = (part.value,) if part.type is None else (part.value, part.type)
        return (*_scoped(part.name, part.body), *outer)
    if isinstance(part, tree.PiTypeExpression):
        return (*_scoped(part.name, part.codomain), part.domain)
    if isinstance(part, tree.PlaneTypeExpression):
        return reversed(part.extent or ())
    return ()


def _scoped(name: tree.Name, body: object) -> tuple[object, ...]:
    return _Bind(name.text, -1), body, _Bind(name.text, 1)


@frozen
class _Bind:
    """From here on the name is bound once more, or once less."""

    name: str
    change: int


def _parts(declaration: Declared) -> Iterator[object]:
    """The terms and types of a declaration in order, with its own bound names around them."""
    if isinstance(declaration, tree.Definition):
        yield from filter(None, (declaration.type, declaration.value))
    elif isinstance(declaration, tree.ParameterDeclaration):
        yield from filter(None, (declaration.type, declaration.default))
    elif isinstance(declaration, tree.PlaneDeclaration):
        for index in declaration.indices:
            yield index.bound
            yield _Bind(index.name.text, 1)
        yield from declaration.extent
        yield from (_Bind(index.name.text, -1) for index in declaration.indices)
        if declaration.gradient_of is not None:
            yield declaration.gradient_of
    elif isinstance(declaration, tree.ImageDeclaration):
        slots = [item for item in declaration.items if isinstance(item, tree.SlotItem)]
        yield from (_Bind(slot.name.text, 1) for slot in slots if slot.access is None)
        for item in declaration.items:
            yield from _item_terms(item)


def _item_terms(item: tree.ImageItem) -> Iterable[tree.Term]:
    if isinstance(item, tree.SlotItem):
        return item.extent
    if isinstance(item, tree.ConstantItem):
        return (item.value,)
    if isinstance(item, tree.SharedItem):
        return (item.size_bytes,)
    if isinstance(item, tree.RequireItem):
        return (item.left, item.right)
    return item.sizes
