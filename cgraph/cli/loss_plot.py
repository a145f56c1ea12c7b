"""Loss curves as a picture, by matplotlib; imported only where one is asked for, because it may not be installed."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.problems_training import UnwritableReport


def save_plot(
    path: Path, losses: Sequence[float], evaluations: Sequence[tuple[int, float]], *, unit: str, title: str
) -> None:
    """Writes the curves of all steps from 1 on.

    Args:
        path: ends in .svg or .png.
        losses: of each step.
        evaluations: step and loss of each.
        unit: of the losses.
        title: of the picture.

    Raises:
        ProblemsFound: CG794 where it cannot be written.
    """
    # With a fixed salt the same losses make the same file.
    with mpl.rc_context({"svg.hashsalt": "cgraph", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.plot(range(1, len(losses) + 1), losses, linewidth=0.8, color="#7a9cc6", label="each step")
        if evaluations:
            steps, values = zip(*evaluations, strict=True)
            axes.plot(steps, values, marker="o", markersize=4, color="#c0392b", label="evaluation")
        axes.set_xlabel("step")
        axes.set_ylabel(f"loss in {unit}")
        axes.set_title(title)
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
        try:
            figure.savefig(path, dpi=144, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            raise ProblemsFound([UnwritableReport(None, "plot", str(path), error.strerror or str(error))]) from error
