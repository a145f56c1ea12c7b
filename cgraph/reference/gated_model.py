"""A language model of seed 000's layers: token embedding, gated layers with RoPE, a final norm, logits without a bias.

    x = table[ids]            logits = layer_norm(layers(x)) · headᵀ
    loss = mean of the cross entropy over the supervised positions of all sequences

A token attends to itself and earlier ones, but not to padding. Positions enter by RoPE alone and count from 0 in each
sequence, padding included. A tied model has no head of its own: its head is the table (Press and
Wolf 2017), whose gradient is then that of both uses.

Weights and gradients are arrays by name: `table`, `layers.0.qkv` and so on as in `LayerWeights`, `norm_gain`,
`norm_shift`, and `head` where it is not tied.
"""

import math
from collections.abc import Mapping

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from cgraph.reference.arrays import FloatArray, IntArray, boolean_array, integer_array, real_array
from cgraph.reference.cross_entropy import cross_entropy, cross_entropy_bwd
from cgraph.reference.embedding import embedding, embedding_bwd
from cgraph.reference.layer import LayerOptions
from cgraph.reference.linear import linear, linear_bwd
from cgraph.reference.norm import layer_norm, layer_norm_bwd
from cgraph.reference.stack import stack_backward_from_boundaries, stack_forward
from cgraph.reference.weights import LAYER_WEIGHT_NAMES, LayerWeights, layer_shapes, random_weights


@frozen(kw_only=True)
class GatedModelConfig:
    """Sizes and constants.

    Args:
        vocab: tokens of the vocabulary. width: channels of a token. heads: divides the width into heads of even width.
        layers: of the stack. ffn: inner width of the gated feed-forward part.
        tied: whether the table is the head's weight too.
        epsilon: of every norm. rope_base: of the rotation's angles.
    """

    vocab: int
    width: int
    heads: int
    layers: int
    ffn: int
    tied: bool
    epsilon: float = 1e-5
    rope_base: float = 10000.0

    @property
    def options(self) -> LayerOptions:
        """What every layer is called with."""
        return {"heads": self.heads, "causal": True, "epsilon": self.epsilon, "rope_base": self.rope_base}


def gated_model_shapes(config: GatedModelConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of each weight. Matrices are [outputs, inputs], the table is [vocab, width]."""
    table = (config.vocab, config.width)
    outside = {"table": table, "norm_gain": (config.width,), "norm_shift": (config.width,)}
    if not config.tied:
        outside["head"] = table
    of_layer = layer_shapes(width=config.width, ffn=config.ffn)
    layers = {f"layers.{layer}.{name}": shape for layer in range(config.layers) for name, shape in of_layer.items()}
    return outside | layers


def random_gated_model(generator: np.random.Generator, config: GatedModelConfig) -> dict[str, FloatArray]:
    """Weights for tests: activations and logits stay near 1, and no weight is 0."""
    table = generator.standard_normal((config.vocab, config.width))
    drawn = {
        "table": table / math.sqrt(config.width) if config.tied else table,
        "norm_gain": 1 + 0.2 * generator.standard_normal(config.width),
        "norm_shift": 0.2 * generator.standard_normal(config.width),
    }
    if not config.tied:
        drawn["head"] = generator.standard_normal((config.vocab, config.width)) / math.sqrt(config.width)
    for layer in range(config.layers):
        of_layer = random_weights(generator, width=config.width, ffn=config.ffn)
        drawn |= {f"layers.{layer}.{name}": weight for name, weight in of_layer.named().items()}
    return drawn


def gated_model_forward(
    config: GatedModelConfig,
    weights: Mapping[str, ArrayLike],
    ids: ArrayLike,
    *,
    padding: ArrayLike | None = None,
) -> FloatArray:
    """The logits.

    Args:
        config: sizes and constants.
        weights: by name, in the shapes of `gated_model_shapes`.
        ids: [seq] or [batch, seq], each 0 or more and below vocab.
        padding: booleans in the shape of ids; True where no token attends to. None: nowhere.

    Returns:
        logits: [seq, vocab] or [batch, seq, vocab].

    Raises:
        ValueError: a weight is missing or superfluous, a shape does not fit, an id is out of range, or a value is not
            finite; the message names it.
    """
    walk = _forward(config, weights, ids, padding)
    return walk.logits.reshape(*walk.ids.shape, -1)


def gated_model_loss(
    config: GatedModelConfig,
    weights: Mapping[str, ArrayLike],
    ids: ArrayLike,
    targets: ArrayLike,
    *,
    padding: ArrayLike | None = None,
) -> float:
    """The loss that `gated_model_backward` returns, from the forward pass alone; arguments and errors as there."""
    walk = _forward(config, weights, ids, padding)
    return cross_entropy(walk.logits, _targets(config, walk, targets))


def gated_model_backward(
    config: GatedModelConfig,
    weights: Mapping[str, ArrayLike],
    ids: ArrayLike,
    targets: ArrayLike,
    *,
    padding: ArrayLike | None = None,
) -> tuple[float, dict[str, FloatArray]]:
    """The loss, and its gradient for every weight.

    Args:
        config: sizes and constants.
        weights: as for `gated_model_forward`.
        ids: as for `gated_model_forward`.
        targets: the shape of ids; the token to predict at each position, or -1 where the position does not count.
        padding: as for `gated_model_forward`.

    Returns:
        The mean loss over all positions that count, 0 where none does; and the gradients by the weights' names.

    Raises:
        ValueError: as for `gated_model_forward`, or a target does not fit.
    """
    walk = _forward(config, weights, ids, padding)
    arrays = walk.weights
    loss, dlogits = cross_entropy_bwd(walk.logits, _targets(config, walk, targets))
    dnormal, dhead = linear_bwd(walk.normal, arrays["table" if config.tied else "head"], dlogits)
    top = np.vstack([boundaries[-1] for boundaries in walk.boundaries])
    dx, dgain, dshift = layer_norm_bwd(top, arrays["norm_gain"], walk.statistics, dnormal)

    gradients = {name: np.zeros(shape) for name, shape in gated_model_shapes(config).items()}
    gradients |= {"norm_gain": dgain, "norm_shift": dshift, "table" if config.tied else "head": dhead}
    layers = _layers(config, arrays)
    parts = np.split(dx, len(walk.boundaries))
    sequences = zip(np.atleast_2d(walk.ids), walk.options, walk.boundaries, parts, strict=True)
    for sequence, options, boundaries, part in sequences:
        dembedded, of_layers = stack_backward_from_boundaries(boundaries, layers, part, **options)
        gradients["table"] += embedding_bwd(sequence, dembedded, config.vocab)
        for layer, of_layer in enumerate(of_layers):
            for name, gradient in of_layer.named().items():
                gradients[f"layers.{layer}.{name}"] += gradient
    return loss, gradients


@frozen(eq=False)
class _Walk:
    """What a forward pass read and computed.

    Args:
        options, boundaries: for each sequence, what its layers are called with, and the planes between them.
        normal, statistics, logits: rows are all tokens.
    """

    weights: dict[str, FloatArray]
    ids: IntArray
    options: tuple[LayerOptions, ...]
    boundaries: tuple[tuple[FloatArray, ...], ...]
    normal: FloatArray
    statistics: FloatArray
    logits: FloatArray


def _forward(
    config: GatedModelConfig, weights: Mapping[str, ArrayLike], ids: ArrayLike, padding: ArrayLike | None
) -> _Walk:
    shapes = gated_model_shapes(config)
    if different := sorted(shapes.keys() ^ weights.keys()):
        raise ValueError(f"{different[0]}: {'missing' if different[0] in shapes else 'no weight of this model'}")
    arrays = {name: real_array(name, weights[name], shape) for name, shape in shapes.items()}
    tokens = integer_array("ids", ids, None, least=0, below=config.vocab)
    if tokens.ndim not in (1, 2):
        raise ValueError(f"ids: expected shape [seq] or [batch, seq], got {list(tokens.shape)}")
    options = _options(config, tokens, padding)
    layers = _layers(config, arrays)
    boundaries = tuple(
        stack_forward(embedding(arrays["table"], sequence), layers, **of_sequence)
        for sequence, of_sequence in zip(np.atleast_2d(tokens), options, strict=True)
    )
    top = np.vstack([of_sequence[-1] for of_sequence in boundaries])
    normal, statistics = layer_norm(top, arrays["norm_gain"], arrays["norm_shift"], epsilon=config.epsilon)
    logits = linear(normal, arrays["table" if config.tied else "head"])
    return _Walk(arrays, tokens, options, boundaries, normal, statistics, logits)


def _options(config: GatedModelConfig, tokens: IntArray, padding: ArrayLike | None) -> tuple[LayerOptions, ...]:
    """For each sequence, what its layers are called with: its padding is hidden from every query."""
    padded = np.zeros(tokens.shape, np.bool_) if padding is None else boolean_array("padding", padding, tokens.shape)
    return tuple({**config.options, "mask": ~row} for row in np.atleast_2d(padded))


def _layers(config: GatedModelConfig, arrays: Mapping[str, FloatArray]) -> tuple[LayerWeights, ...]:
    return tuple(
        LayerWeights(**{name: arrays[f"layers.{layer}.{name}"] for name in LAYER_WEIGHT_NAMES})
        for layer in range(config.layers)
    )


def _targets(config: GatedModelConfig, walk: _Walk, targets: ArrayLike) -> IntArray:
    return integer_array("targets", targets, walk.ids.shape, least=-1, below=config.vocab).ravel()
