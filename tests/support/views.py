"""Small graphs and names that try to break out of a picture, for tests of views."""

from collections.abc import Sequence

import attrs

from cgraph.core.roles import Role
from cgraph.graph.hazards import find_hazards
from cgraph.graph.model import CommandGraph
from cgraph.memory.planner import plan_memory
from cgraph.schedule.model import Order
from cgraph.schedule.orders import make_schedule
from cgraph.view.graphs import view_of_graph
from cgraph.view.model import View
from tests.support.graphs import GraphMaker

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!-- <![CDATA[ ]]> -->",
    "a\"b'c`d\\e&amp;&#60;%s{0}",
    "line\nline\r\nline\ttab\x00\x07\x1b[31m\x7f\x85\u2028\u2029",
    "\u202eright to left\u2066\u200f שלום",
    "x" * 20_000,
    "\ud800 lone surrogate \ufffe",
    '"]; end\nsubgraph x["#quot;',
)


def small_graph() -> CommandGraph:
    """A fill and a launch in nested phases, a join, then a copy: y is written, added to, and written over in part."""
    maker = GraphMaker()
    x, y, z = maker.plane("x", 8, Role.INPUT), maker.plane("y 0", 4), maker.plane("z", 2, Role.OUTPUT)
    with maker.phase("outer"):
        maker.fill(y, 0, 4, 1.5)
        with maker.phase("inner"), maker.call("l = 3", 7):
            maker.launch(maker.accumulate(y, 0, 4), maker.read(x, 4, 8), naturals=[("n", 4)])
    maker.join()
    maker.copy(maker.write(y, 0, 2), maker.read(x, 0, 2))
    maker.launch(maker.write(z), maker.read(y, 1, 3))
    return maker.graph()


def view_of(graph: CommandGraph, order: Order = Order.DATAFLOW, elapsed_ms: Sequence[float] | None = None) -> View:
    """A graph's view after all stages."""
    schedule = make_schedule(graph, find_hazards(graph), order)
    return view_of_graph(graph, schedule, plan_memory(graph, schedule), elapsed_ms=elapsed_ms)


def hostile_view(name: str) -> View:
    """A timed view in which everything that has a name has this one."""
    view = view_of(small_graph(), elapsed_ms=(1.0, 2.0, 0.0, 3.0, 0.5))
    return attrs.evolve(
        view,
        title=name,
        tool=name,
        parameters=((name, 1),),
        sources=tuple(attrs.evolve(source, name=name, text=name) for source in view.sources),
        origins=tuple(attrs.evolve(origin, text=name) for origin in view.origins),
        phases=tuple(attrs.evolve(phase, name=name, title=name, note=name) for phase in view.phases),
        kernels=tuple(attrs.evolve(kernel, name=name, symbol=name, doc=name) for kernel in view.kernels),
        planes=tuple(attrs.evolve(plane, name=name, family=name, doc=name) for plane in view.planes),
        nodes=tuple(
            attrs.evolve(
                node,
                label=name,
                arguments=tuple(attrs.evolve(argument, slot=name) for argument in node.arguments),
                details=((name, name),),
                flags=(name,),
            )
            for node in view.nodes
        ),
    )
