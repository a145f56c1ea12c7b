"""Random graphs of fills and copies have the host's bits on the emulated device, in every order that edges allow.

A missing edge, or two planes that share bytes of the arena while both are in use, shows as other bits in some order.
"""

import pytest

pytest.importorskip("cuda.bindings")

from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.graph.model import CommandGraph
from cgraph.schedule.model import Order
from tests.support.emulated import INSTALLATION
from tests.support.emulated_runs import kept_bits, on_device, on_host, random_order
from tests.support.random_graphs import graphs


@given(graphs(movable=True), st.sampled_from(Order), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_every_order_has_the_bits_of_the_host(graph: CommandGraph, order: Order, seed: int) -> None:
    host = on_host(graph)
    host.run()
    expected = kept_bits(graph, host)
    with on_device(graph, order) as executable:
        for _ in range(3):
            with random_order(seed):
                executable.run()
            assert kept_bits(graph, executable) == expected
        executable.run(lambda _index, _elapsed_ms: None)
        assert kept_bits(graph, executable) == expected
    assert INSTALLATION.driver.failures == []
