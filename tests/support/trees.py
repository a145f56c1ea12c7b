"""Random syntax trees, and trees as plain tuples that can be compared."""

from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import strategies as st

from cgraph.core.elements import Element
from cgraph.core.quantities import Quantity
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Relation, SlotKind
from cgraph.source import Source, Span
from cgraph.syntax import tree

NOWHERE = Span(Source("<made>", ""), 0, 0)
DECLARATION_WORDS = ("import", "parameter", "phase", "plane", "image", "def")
SIMPLE_TYPES = ("Nat", "Float", "Phase", "Image", "Argument", "Slots", "Command")
QUANTITIES = ("erased", "linear", "unrestricted")
RESERVED = (*DECLARATION_WORDS, "kernel", "lambda", "let", "in", "pi", *QUANTITIES, *SIMPLE_TYPES, "Plane")
ELEMENTS = ("f16", "bf16", "f32", "f64", "i32", "half")
ROLES = ("input", "output", "weight", "gradient", "of", "saved", "state", "scratch")
ITEM_WORDS = ("slot", "constant", "grid", "block", "shared", "require")
SLOT_WORDS = ("read", "write", "accumulate", "optional", "aliases", "natural", "float")
SOFT = (*ELEMENTS, *ROLES, *ITEM_WORDS, *SLOT_WORDS)


def plain(node: object) -> object:
    """A node as nested tuples without places; two trees mean the same text if these are equal."""
    if isinstance(node, tuple | list):
        return tuple(plain(item) for item in node)
    kind: Any = type(node)
    if not attrs.has(kind):
        return node
    fields = [field.name for field in attrs.fields(kind) if field.name not in {"span", "path_span"}]
    return (kind.__name__, *(plain(getattr(node, name)) for name in fields))


words = st.sampled_from([*SOFT, "in'", "Inn", "cgThen", "x"]) | st.from_regex(
    r"[A-Za-z_][A-Za-z0-9_']{0,30}", fullmatch=True
)
names = words.filter(lambda word: word not in RESERVED).map(lambda word: tree.Name(word, NOWHERE))
slot_names = (words | st.sampled_from(RESERVED)).map(lambda word: tree.Name(word, NOWHERE))
alias_names = slot_names.filter(lambda name: name.text not in ITEM_WORDS + DECLARATION_WORDS)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=30)
quantities = st.sampled_from(list(Quantity))
elements = st.sampled_from(list(Element))
# Documentation without blanks at the ends of its lines: the formatter removes those.
lines = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Zl", "Zp", "Cc", "Zs"]), max_size=20)
documentations = st.just("") | st.lists(lines, min_size=1, max_size=3).map("\n".join).filter(lambda text: text != "")
leaves = st.one_of(
    names,
    st.integers(0, 10**30).map(lambda value: tree.NaturalLiteral(value, NOWHERE)),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: tree.FloatLiteral(value, NOWHERE)),
)


def built(kind: Callable[..., Any], *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nodes of a kind from strategies for its fields; the place comes last."""
    return st.builds(kind, *parts, st.just(NOWHERE))


def _larger_terms(terms: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        built(tree.Apply, terms, st.lists(terms, min_size=1, max_size=5).map(tuple)),
        built(tree.Apply, st.just(tree.Name("cgThen", NOWHERE)), st.tuples(terms, terms)),
        built(tree.Lambda, quantities, names, types, terms),
        built(tree.Let, quantities, names, st.none() | types, terms, terms),
    )


def _larger_types(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return built(tree.PiTypeExpression, quantities, names, inner, inner)


def sizes(minimum: int = 1, maximum: int = 3) -> st.SearchStrategy[Any]:
    """Lists of terms, as in an extent."""
    return st.lists(terms, min_size=minimum, max_size=maximum).map(tuple)


_plane_types = st.one_of(
    st.just(tree.PlaneTypeExpression(None, None, NOWHERE)),
    built(tree.PlaneTypeExpression, elements, st.none() | st.deferred(sizes)),
)
_simple_types = built(tree.SimpleTypeExpression, st.sampled_from(SIMPLE_TYPES))
types: st.SearchStrategy[Any] = st.recursive(_simple_types | _plane_types, _larger_types, max_leaves=3)
terms: st.SearchStrategy[Any] = st.recursive(leaves, _larger_terms, max_leaves=25)

_number_slots = st.builds(
    tree.SlotItem,
    st.integers(0, 99),
    slot_names,
    st.sampled_from([SlotKind.NATURAL, SlotKind.FLOAT]),
    st.none(),
    st.none(),
    st.just(()),
    st.just(value=False),
    st.just(()),
    st.just(NOWHERE),
)
_pointer_slots = st.builds(
    tree.SlotItem,
    st.integers(0, 99),
    slot_names,
    st.just(SlotKind.POINTER),
    st.sampled_from(list(AccessMode)),
    elements,
    sizes(),
    st.booleans(),
    st.lists(alias_names, max_size=3).map(tuple),
    st.just(NOWHERE),
)
items = st.one_of(
    _number_slots,
    _pointer_slots,
    built(tree.ConstantItem, names, terms),
    built(tree.GridItem, sizes()),
    built(tree.BlockItem, sizes()),
    built(tree.SharedItem, terms),
    built(tree.RequireItem, terms, st.sampled_from(list(Relation)), terms),
)
_roles = st.one_of(
    st.tuples(st.sampled_from([role for role in Role if role is not Role.GRADIENT]), st.none()),
    st.tuples(st.just(Role.GRADIENT), names),
)


def _plane(
    name: tree.Name,
    indices: list[Any],
    element: Element,
    extent: tuple[Any, ...],
    role: tuple[Role, tree.Name | None],
    documentation: str,
) -> tree.PlaneDeclaration:
    return tree.PlaneDeclaration(name, tuple(indices), element, extent, role[0], role[1], documentation, NOWHERE)


_binders = built(tree.IndexBinder, names, terms)
declarations = st.one_of(
    texts.map(lambda path: tree.Import(path, NOWHERE, NOWHERE)),
    built(tree.ParameterDeclaration, names, types, st.none() | terms, documentations),
    built(tree.PhaseDeclaration, names, texts, documentations),
    st.builds(_plane, names, st.lists(_binders, max_size=2), elements, sizes(), _roles, documentations),
    built(tree.ImageDeclaration, names, texts, texts, st.lists(items, max_size=5).map(tuple), documentations),
    built(tree.Definition, names, st.none() | types, terms, documentations),
)
modules = st.lists(declarations, max_size=4).map(lambda made: tree.Module(Source("<made>", ""), tuple(made), ()))
