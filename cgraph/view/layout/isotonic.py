"""Places on a line, as near to where they would like to be as their order and their distances allow."""

from collections.abc import Sequence


def spread(wishes: Sequence[float], weights: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The x_i with x_(i+1) - x_i >= distance_i and the least sum of weight_i · (x_i - wish_i)².

    Pools adjacent violators, in linear time; the minimum is exact.

    Args:
        wishes: of the places, in their order.
        weights: positive.
        distances: between neighbours, one fewer.
    """
    offsets = [0.0]
    for distance in distances:
        offsets.append(offsets[-1] + distance)
    means: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    for wish, weight, offset in zip(wishes, weights, offsets, strict=False):
        mean, mass, count = wish - offset, weight, 1
        while means and means[-1] >= mean:
            other, other_mass = means.pop(), masses.pop()
            mean = (mean * mass + other * other_mass) / (mass + other_mass)
            mass += other_mass
            count += counts.pop()
        means.append(mean)
        masses.append(mass)
        counts.append(count)
    levels = [mean for mean, count in zip(means, counts, strict=True) for _ in range(count)]
    return [level + offset for level, offset in zip(levels, offsets, strict=False)]
