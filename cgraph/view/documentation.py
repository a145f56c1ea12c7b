"""What the comments above declarations say, by the declared name.

Receives texts of programs; a text that does not parse, as one from a foreign file may not, has nothing to say. The
graph does not carry comments, because nothing but a reader needs them.
"""

from collections.abc import Iterable, Mapping

from cgraph.diagnostics import ProblemsFound
from cgraph.source import Source
from cgraph.syntax.parser import parse
from cgraph.syntax.tree import Import


def documentation_of(sources: Iterable[Source]) -> Mapping[str, str]:
    """Name and comment of each declaration that has one. Names are unique in a program."""
    found: dict[str, str] = {}
    for source in sources:
        try:
            module = parse(source)
        except ProblemsFound:
            continue
        for declaration in module.declarations:
            if not isinstance(declaration, Import) and declaration.documentation:
                found.setdefault(declaration.name.text, declaration.documentation)
    return found
