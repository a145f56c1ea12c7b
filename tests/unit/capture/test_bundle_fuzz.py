"""Changed bundles are refused or safe; and what judges that can tell."""

from pathlib import Path
from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.graph.model import Access, FillNode
from tools.fuzz.bundles import KINDS, make_case
from tools.fuzz.case import judge
from tools.fuzz.oracle import Unsafe, check_safe
from tools.fuzz.samples import write_samples


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_samples(tmp_path_factory.mktemp("samples"))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**64), kind=st.sampled_from(KINDS), which=st.integers(0, 5))
def test_a_changed_bundle_is_refused_or_safe(samples: list[Path], seed: int, kind: str, which: int) -> None:
    path = samples[0].parent / "case.cgb"
    must_fail = make_case(samples[which % len(samples)], kind, Random(seed), path)  # noqa: S311  (cases, not secrets)
    outcome = judge(path, samples[0].parent / "again.cgb")
    assert not (must_fail and outcome == "loaded")


def test_what_is_not_changed_is_loaded(samples: list[Path]) -> None:
    assert len(samples) == 6
    for sample in samples:
        assert judge(sample, sample.parent / "again.cgb") == "loaded"
        assert (sample.parent / "again.cgb").read_bytes() == sample.read_bytes()


def bundle(samples: list[Path], name: str) -> Bundle:
    loaded = load_bundle(samples[0].parent / name)
    assert isinstance(loaded, Bundle)
    return loaded


def test_the_oracle_finds_commands_that_race(samples: list[Path]) -> None:
    good = bundle(samples, "parts_dataflow.cgb")
    check_safe(good)
    free = attrs.evolve(good.schedule, predecessors=((),) * len(good.graph.nodes))
    with pytest.raises(Unsafe, match="race"):
        check_safe(attrs.evolve(good, schedule=free))


def test_the_oracle_finds_planes_that_share_bytes(samples: list[Path]) -> None:
    good = bundle(samples, "layer.cgb")
    together = attrs.evolve(good.plan, offsets=tuple(offset and 0 for offset in good.plan.offsets))
    with pytest.raises(Unsafe, match="share bytes"):
        check_safe(attrs.evolve(good, plan=together))


def test_the_oracle_finds_parts_outside_their_planes(samples: list[Path]) -> None:
    good = bundle(samples, "parts_serial.cgb")
    nodes = list(good.graph.nodes)
    place = next(index for index, node in enumerate(nodes) if isinstance(node, FillNode))
    access = nodes[place].accesses[0]
    nodes[place] = attrs.evolve(nodes[place], accesses=(Access(access.plane, access.start, 2**20, access.mode),))
    with pytest.raises(Unsafe, match="inside its plane"):
        check_safe(attrs.evolve(good, graph=attrs.evolve(good.graph, nodes=tuple(nodes))))
