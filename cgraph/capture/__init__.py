"""Bundles: a graph in one file, saved, loaded, compared and replayed without its program or a compiler.

The Python face is here: `make_bundle` and `save_bundle`, `load_bundle`, `Replay`, `record`, `from_cuda_graph`.
"""

from cgraph.capture.imported.api import from_cuda_graph
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle, Recording
from cgraph.capture.recording import record
from cgraph.capture.replay import Replay
from cgraph.capture.saving import make_bundle, save_bundle

__all__ = ["Bundle", "Recording", "Replay", "from_cuda_graph", "load_bundle", "make_bundle", "record", "save_bundle"]
