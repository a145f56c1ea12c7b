"""Random terms that bind names with quantities, and the rules of quantitative type theory for them, written directly.

Every name is bound once. A usage is how often a name is used: 0, 1, or 2 for many. The usages of a term's parts add,
and those of an argument are multiplied by the quantity of the binder that receives it (Atkey 2018).
"""

from collections import Counter
from collections.abc import Iterator

from attrs import frozen
from hypothesis import strategies as st

WORDS = ("erased", "linear", "unrestricted")
# Definitions by the quantity of their binder, each of which really keeps to it.
HELPERS = """
def erasedly = (lambda erased n : Nat . 1)
def linearly = (lambda linear n : Nat . n)
def freely = (lambda unrestricted n : Nat . (naturalAdd n n))
"""
_CALLS = ("erasedly", "linearly", "freely")


@frozen
class Bound:
    """Binds a name: a let, or a lambda that is applied at once."""

    quantity: int
    name: str
    value: "Term"
    body: "Term"
    is_let: bool


@frozen
class Node:
    """A term with parts, each with the quantity that its place multiplies by."""

    template: str
    parts: "tuple[tuple[int, Term], ...]"


Term = Bound | Node


def text_of(term: Term) -> str:
    """As the language writes it."""
    if isinstance(term, Node):
        return term.template.format(*(text_of(part) for _, part in term.parts))
    word, value, body = WORDS[term.quantity], text_of(term.value), text_of(term.body)
    if term.is_let:
        return f"(let {word} {term.name} = {value} in {body})"
    return f"((lambda {word} {term.name} : Nat . {body}) {value})"


def usages(term: Term) -> Counter[str]:
    """How often each free name is used."""
    if isinstance(term, Node):
        if not term.parts and term.template.startswith("x"):
            return Counter({term.template: 1})
        return _sum((quantity, usages(part)) for quantity, part in term.parts)
    body = usages(term.body)
    del body[term.name]
    return _sum(((1, body), (term.quantity, usages(term.value))))


def faults(term: Term) -> set[tuple[str, str]]:
    """Code and name for each binder that is not used as often as it says."""
    if isinstance(term, Node):
        return {fault for _, part in term.parts for fault in faults(part)}
    used = usages(term.body)[term.name]
    own = set()
    if term.quantity == 0 and used:
        own.add(("CG303", term.name))
    if term.quantity == 1 and used != 1:
        own.add(("CG301" if used else "CG302", term.name))
    return own | faults(term.value) | faults(term.body)


def _sum(scaled: Iterator[tuple[int, Counter[str]]] | tuple[tuple[int, Counter[str]], ...]) -> Counter[str]:
    total: Counter[str] = Counter()
    for quantity, found in scaled:
        for name, count in found.items():
            total[name] = min(total[name] + quantity * count, 2)
    return total


@st.composite
def terms(draw: st.DrawFn, names: tuple[str, ...] = (), depth: int = 4) -> Term:
    """Terms of type Nat."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        name = draw(st.sampled_from(names)) if names else "1"
        return Node(name if draw(st.integers(0, 4)) else "1", ())
    form = draw(st.integers(0, 7))
    inner = terms(names, depth - 1)
    if form <= 1:
        return Node("(naturalAdd {} {})", ((1, draw(inner)), (1, draw(inner))))
    if form == 2:
        quantity = draw(st.integers(0, 2))
        return Node(f"({_CALLS[quantity]} {{}})", ((quantity, draw(inner)),))
    if form == 3:
        step = "(lambda unrestricted i{0} : Nat . (lambda unrestricted c{0} : Nat . {{}}))".format(len(names))
        return Node(f"(naturalFold {{}} {{}} {step})", ((1, draw(inner)), (1, draw(inner)), (2, draw(inner))))
    if form == 4:
        # A size in a type counts 0.
        function = "(lambda unrestricted p : Plane f32 [{}] . 1)"
        return Node(f"(let unrestricted f = {function} in {{}})", ((0, draw(inner)), (1, draw(inner))))
    name = f"x{len(names)}{draw(st.integers(0, 10**6))}"
    body = draw(terms((*names, name), depth - 1))
    return Bound(draw(st.integers(0, 2)), name, draw(inner), body, draw(st.booleans()))
