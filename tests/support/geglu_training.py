"""Training steps of geglu_lm.cg at small sizes."""

import numpy as np

from cgraph.backends.devices import HOST, Device
from cgraph.core.elements import Element
from cgraph.models.gpt_program import wide_dtype
from cgraph.pipeline import Compiled, lower
from cgraph.reference.gated_model import random_gated_model
from cgraph.schedule.model import Order
from tests.support.geglu_cases import GegluCase, gradient_planes
from tests.support.layer_runs import compiled
from tests.support.training_runs import Sizes, Trainer


def compiled_geglu(
    case: GegluCase, entry: str, half: Element, *, microbatches: int = 1, order: Order = Order.DATAFLOW
) -> Compiled:
    """An entry of the program; the parameter that only steps have is left out of the others."""
    more = {"cgMicrobatches": microbatches} if entry.startswith("step") else {}
    return compiled("geglu_lm", {**case.parameters, **more}, half, order, entry)


def geglu_trainer(
    case: GegluCase,
    entry: str = "step",
    half: Element = Element.F64,
    *,
    microbatches: int = 1,
    order: Order = Order.DATAFLOW,
    device: Device = HOST,
) -> Trainer:
    """A model with weights that do not depend on the element type, and what trains it."""
    sizes = Sizes(vocab=case.vocab, seq=case.seq, batch=case.batch, microbatches=microbatches)
    program = compiled_geglu(case, entry, half, microbatches=microbatches, order=order)
    executable = lower(program.graph, program.schedule, program.plan, device)
    made = Trainer(sizes, executable, wide_dtype(half), gradient_planes(case))
    made.set_weights(random_gated_model(np.random.default_rng(3), case.config))
    return made
