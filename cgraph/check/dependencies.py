"""Which declarations need which, and an order in which each comes after those it needs.

Receives declarations by name; reports those that need themselves. Names that nothing declares are left to the rules.
"""

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


def order_declarations(declared: Mapping[str, Declared], needs: Needs) -> tuple[list[str], list[Problem]]:
    """Names in an order of need, and a problem for each circle; its members are left out of the order."""
    order: list[str] = []
    problems: list[Problem] = []
    state: dict[str, bool] = {}  # False while its needs are looked at, True when done
    in_circle: set[str] = set()
    for root in declared:
        if root in state:
            continue
        path = [(root, iter(needs[root].items()))]
        state[root] = False
        while path:
            name, rest = path[-1]
            needed = next(rest, None)
            if needed is None:
                state[name] = True
                path.pop()
                if name not in in_circle:
                    order.append(name)
            elif needed[0] not in state:
                state[needed[0]] = False
                path.append((needed[0], iter(needs[needed[0]].items())))
            elif not state[needed[0]]:
                names = [entry[0] for entry in path]
                circle = names[names.index(needed[0]) :]
                in_circle.update(circle)
                problems.append(_circle_problem(circle, needs))
    return order, problems


def _circle_problem(circle: list[str], needs: Needs) -> Problem:
    following = [*circle[1:], circle[0]]
    uses = [(after, needs[name][after]) for name, after in zip(circle, following, strict=True)]
    first_use, span = uses[0]
    return Recursion(span, circle[0], first_use, tuple(uses[1:]))


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
