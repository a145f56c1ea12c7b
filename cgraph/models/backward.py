"""The backward pass of whole models, GPT and BERT, with the interface of seed 001.

The work is done by programs/gpt.cg and programs/bert.cg; here their inputs are checked and their results named. In GPT
a token attends to itself and earlier ones, in BERT to all.
"""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from numpy.typing import NDArray

from cgraph.backends.devices import parse_device
from cgraph.core.elements import HALF_CHOICES, Element
from cgraph.models.config import GptConfig
from cgraph.models.gpt import Gpt
from cgraph.models.gpt_program import ProgramKey, plane_names, prepared_program, wide_dtype
from cgraph.models.grads import GptGrads, scale_gpt_grads
from cgraph.models.host_arrays import host_array
from cgraph.models.token_inputs import TokenInputs, token_inputs

Weights: TypeAlias = Gpt | Mapping[str, object]


def gpt_backward(
    config: GptConfig,
    gpt: Weights,
    ids: object,
    targets: object,
    *,
    padding: object | None = None,
    half: str = "f32",
    device: str = "host",
    recompute: bool = False,
) -> tuple[float, GptGrads]:
    """The loss of a model in which a token attends to itself and earlier ones, and its gradient for every weight.

    Arrays may be NumPy's, lists, or any library's with `__dlpack__` or `__cuda_array_interface__`. The program of a
    shape is built once and kept, with its memory; the last few are.

    Args:
        config: the sizes.
        gpt: the weights; or arrays under the names that `Gpt.named` gives, of any library.
        ids: [seq] or [batch, seq] integers from 0 to vocab - 1; seq is at most the context.
        targets: the shape of ids; the token to predict at each position, or -1 where the position does not count.
        padding: booleans in the shape of ids: positions that only fill their sequence up, which no token attends to.
            Their targets count like any other's unless they are -1. None: nowhere.
        half: what products read, and what is kept for them: f32, f16, bf16 or f64. With f64 everything is f64.
        device: host, emulated, cuda or cuda:N.
        recompute: whether the backward pass computes each block again, which takes time and saves memory.

    Returns:
        The mean of the cross entropy over all positions that count, 0 where none does; and the gradients, float64 with
        half = f64 and float32 otherwise. The same arguments give the same bits.

    Raises:
        ValueError: an array does not fit, an id or target is out of range; the message names it.
        ProblemsFound: the device cannot run the program, or not in this element type.
    """
    inputs = token_inputs(config, ids, targets, mask=None, padding=padding)
    return _backward("gpt", config, gpt, inputs, half, device, recompute=recompute)


def bert_backward(
    config: GptConfig,
    gpt: Weights,
    ids: object,
    targets: object,
    mask: object,
    *,
    padding: object | None = None,
    half: str = "f32",
    device: str = "host",
    recompute: bool = False,
) -> tuple[float, GptGrads]:
    """The masked-language-model loss of a model in which a token attends to all, and its gradient for every weight.

    Args:
        config: the sizes.
        gpt: the weights, as for `gpt_backward`.
        ids: the tokens that are fed to the model, some perhaps replaced; as for `gpt_backward`.
        targets: the shape of ids; the tokens to reconstruct, as for `gpt_backward`, also where the mask is False.
        mask: booleans, or zeros and ones, in the shape of ids: where a position counts, if its target is not -1.
        padding: positions that no token attends to, as for `gpt_backward`.
        half: the element type of products, as for `gpt_backward`.
        device: where it runs, as for `gpt_backward`.
        recompute: less memory for more time, as for `gpt_backward`.

    Returns:
        As `gpt_backward`.

    Raises:
        ValueError: as `gpt_backward`, or the mask does not fit.
        ProblemsFound: as `gpt_backward`.
    """
    if mask is None:
        raise ValueError("mask: expected booleans in the shape of ids, got None")
    inputs = token_inputs(config, ids, targets, mask=mask, padding=padding)
    return _backward("bert", config, gpt, inputs, half, device, recompute=recompute)


def _backward(
    program: str, config: GptConfig, gpt: Weights, inputs: TokenInputs, half: str, device: str, *, recompute: bool
) -> tuple[float, GptGrads]:
    element = _half(half)
    weights = _weights(config, gpt)
    scale = _loss_scale(element, inputs.counted)
    key = ProgramKey(
        program=program,
        config=config,
        seq=inputs.seq,
        batch=inputs.batch,
        padded=inputs.present is not None,
        recompute=recompute,
        loss_scale=scale,
        half=element,
        device=parse_device(device),
    )
    dtype = wide_dtype(element)
    names = plane_names(config)
    planes: dict[str, NDArray[Any]] = {
        names[name][0]: array.astype(dtype, copy=False) for name, array in weights.named().items()
    }
    given = {
        "cgTokenIds": inputs.ids,
        "cgTargets": inputs.targets,
        "cgSupervised": inputs.supervised,
        "cgPresent": inputs.present,
    }
    planes |= {name: array for name, array in given.items() if array is not None}
    loss, found = prepared_program(key).run(planes, {name: gradient for name, (_, gradient) in names.items()})
    grads = GptGrads.from_named(config, found)
    return loss, grads if scale == 1.0 else scale_gpt_grads(1.0 / scale, grads)


def _half(half: str) -> Element:
    choices = {element.value: element for element in HALF_CHOICES}
    if half not in choices:
        raise ValueError(f"half: expected {', '.join(choices)}, got {half!r}")
    return choices[half]


def _weights(config: GptConfig, gpt: Weights) -> Gpt:
    if isinstance(gpt, Gpt):
        gpt.check_fits(config)
        return gpt
    if not isinstance(gpt, Mapping):
        raise ValueError(  # noqa: TRY004  (every misfit of an argument is one kind of error)
            f"gpt: expected a Gpt or a mapping of names to arrays, got {type(gpt).__name__}"
        )
    return Gpt.from_named(config, {name: host_array(name, array) for name, array in gpt.items()})


def _loss_scale(half: Element, counted: int) -> float:
    """With f16, about as many times as positions count, so that the logits' gradients are of the order of 1.

    A power of 2, so that it is taken off again without rounding. The other types have the range of f32 or more.
    """
    return 2.0 ** math.floor(math.log2(counted)) if half is Element.F16 and counted else 1.0
