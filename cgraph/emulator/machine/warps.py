"""Lanes as rows of 32, for instructions of whole warps."""

import numpy as np

from cgraph.emulator.machine.arrays import WARP_LANES, Array


class Warps:
    """Some lanes as rows of 32.

    Args:
        warps: the number of each row's warp in the wave.
        positions: the place of each lane in rows × 32; None where lanes fill all rows in order.
    """

    __slots__ = ("active", "positions", "rows", "warps")

    def __init__(self, warps: Array, positions: Array | None) -> None:
        self.warps = warps
        self.rows = len(warps)
        self.positions = positions
        self.active = np.ones((self.rows, WARP_LANES), bool)
        if positions is not None:
            self.active[:] = False
            self.active.reshape(-1)[positions] = True

    @property
    def full(self) -> bool:
        """Whether every place of every row holds a lane."""
        return self.positions is None

    def spread(self, values: Array, count: int) -> Array:
        """Values of `count` lanes (or one for all) as [rows, 32]; places without a lane are 0."""
        if values.ndim == 0:
            values = np.broadcast_to(values, count)
        if self.positions is None:
            return values.reshape(self.rows, WARP_LANES)
        spread = np.zeros(self.rows * WARP_LANES, values.dtype)
        spread[self.positions] = values
        return spread.reshape(self.rows, WARP_LANES)

    def collect(self, values: Array) -> Array:
        """Values [rows, 32] as one for each lane."""
        flat = values.reshape(-1)
        return flat if self.positions is None else flat[self.positions]
