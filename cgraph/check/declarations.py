"""The rules of declarations: parameters, phases, planes and images become values and types.

Receives one declaration at a time, in an order in which those that it needs came before; adds its value to the world
and its type to the rules.
"""

from cgraph.check.explain import describe_counterexample
from cgraph.check.images import image_value
from cgraph.check.limits import excess
from cgraph.check.primitives import whole_plane
from cgraph.check.problems_names import NotAPlane
from cgraph.check.problems_types import GradientDiffers, NotATypeOfParameters
from cgraph.check.problems_values import NumberTooLarge
from cgraph.check.program import Parameter
from cgraph.check.rules import Rules
from cgraph.check.scope import Binder
from cgraph.check.terms import CheckedTerm
from cgraph.check.values import ImageValue, Partial, PhaseValue, PlaneFamily, PlaneValue, Unknown
from cgraph.core.comparison import Fails, compare_equal
from cgraph.core.naturals import Natural, Symbol, SymbolKind, product, render, substitute, symbol
from cgraph.core.origins import Origin
from cgraph.core.quantities import Quantity
from cgraph.core.trampoline import Rule
from cgraph.core.types import POISON, BaseType, PiType, PlaneType, Type
from cgraph.syntax import tree


def declare_parameter(rules: Rules, declaration: tree.ParameterDeclaration) -> Rule[Parameter]:
    """A natural parameter is a symbol from here on, a float parameter an unknown float."""
    type_ = yield rules.type_of(declaration.type)
    name = declaration.name.text
    if type_ not in (BaseType.NAT, BaseType.FLOAT, POISON):
        rules.world.report(NotATypeOfParameters(declaration.type.span, declaration.type.span.text))
        type_ = POISON
    default: CheckedTerm | None = None
    if declaration.default is not None:
        default = yield rules.check(declaration.default, type_)
    is_nat = type_ is BaseType.NAT
    rules.types[name] = type_
    rules.world.values[name] = symbol(SymbolKind.PARAMETER, name) if is_nat else Unknown(type_)
    return Parameter(name, type_, default, declaration.documentation, declaration.span)


def declare_phase(rules: Rules, declaration: tree.PhaseDeclaration) -> None:
    """A phase is only a name and a title."""
    name = declaration.name.text
    rules.types[name] = BaseType.PHASE
    rules.world.values[name] = PhaseValue(name, declaration.title, declaration.span)


def declare_plane(rules: Rules, declaration: tree.PlaneDeclaration) -> Rule[PlaneFamily]:
    """A plane without indices is a plane; a family is a function from its indices to planes."""
    binders: list[Binder] = []
    symbols: list[Symbol] = []
    bounds: list[Natural] = []
    for index in declaration.indices:
        (bound,) = yield rules.sizes((index.bound,), declared=True)
        variable = rules.world.fresh_symbol(index.name.text, bound)
        value = symbol(variable.kind, variable.name, variable.identity, bound)
        bounds.append(bound)
        symbols.append(variable)
        binders.append(rules.scope.bind(index.name.text, Quantity.UNRESTRICTED, BaseType.NAT, value, index.name.span))
    extent = yield rules.sizes(declaration.extent, declared=True)
    if too_large := excess(product(extent)):
        span = declaration.name.span
        rules.world.report(
            NumberTooLarge(span, Origin(span, "plane", rules.origin), "the number of elements", too_large)
        )
    for binder in reversed(binders):
        rules.scope.unbind(binder)
    name = declaration.name.text
    gradient_of = None if declaration.gradient_of is None else declaration.gradient_of.text
    family = PlaneFamily(
        name,
        tuple(symbols),
        tuple(bounds),
        declaration.element,
        extent,
        declaration.role,
        gradient_of,
        declaration.documentation,
        declaration.name.span,
    )
    type_: Type = PlaneType(declaration.element, extent)
    for variable in reversed(symbols):
        type_ = PiType(Quantity.UNRESTRICTED, variable, BaseType.NAT, type_)
    rules.types[name] = type_
    rules.world.values[name] = Partial(family, ()) if symbols else whole_plane(family, (), extent)
    if declaration.gradient_of is not None:
        _check_gradient(rules, family, declaration.gradient_of)
    return family


def _check_gradient(rules: Rules, family: PlaneFamily, name: tree.Name) -> None:
    """A gradient has as many indices and elements as its plane."""
    value = rules.world.values.get(name.text)
    of = value.family if isinstance(value, PlaneValue) else value.target if isinstance(value, Partial) else None
    if not isinstance(of, PlaneFamily):
        if name.text in rules.types:
            rules.world.report(NotAPlane(name.span, name.text))
        else:
            rules.report_unknown(name)
        return
    if len(of.symbols) != len(family.symbols):
        difference = f"it has {len(family.symbols)} indices, `{of.name}` has {len(of.symbols)}"
        rules.world.report(GradientDiffers(name.span, family.name, of.name, difference, of.span))
        return
    renamed: dict[Symbol, Natural] = {
        theirs: symbol(ours.kind, ours.name, ours.identity, ours.bound)
        for theirs, ours in zip(of.symbols, family.symbols, strict=True)
    }
    sizes = [("elements", product(family.extent), product(of.extent))]
    sizes += [
        (f"planes at index `{index.name}`", ours, theirs)
        for index, ours, theirs in zip(family.symbols, family.bounds, of.bounds, strict=True)
    ]
    for what, ours, theirs in sizes:
        verdict = compare_equal(ours, substitute(theirs, renamed))
        if isinstance(verdict, Fails):
            difference = f"it has {render(ours)} {what}, `{of.name}` has {render(theirs)}"
            where = describe_counterexample(verdict)
            rules.world.report(GradientDiffers(name.span, family.name, of.name, difference, of.span, where))


def declare_image(rules: Rules, declaration: tree.ImageDeclaration) -> Rule[ImageValue]:
    """An image is a value with a signature."""
    value, sound = yield image_value(rules, declaration)
    rules.types[declaration.name.text] = BaseType.IMAGE
    # Launches are not held against a signature that makes no sense.
    rules.world.values[declaration.name.text] = value if sound else Unknown(BaseType.IMAGE)
    return value  # type: ignore[no-any-return]


def declare_definition(rules: Rules, declaration: tree.Definition) -> Rule[CheckedTerm]:
    """A definition's term joins those that the world evaluates at first use."""
    name = declaration.name.text
    if declaration.type is not None:
        type_ = yield rules.type_of(declaration.type)
        term = yield rules.check(declaration.value, type_)
    else:
        term, type_ = yield rules.infer(declaration.value)
    rules.types[name] = type_
    rules.world.definitions[name] = term
    return term  # type: ignore[no-any-return]
