"""Commands in words, for messages of every backend."""

from cgraph.graph.model import CopyNode, FillNode, LaunchNode, Node


def describe(node: Node) -> str:
    """A command in a few words."""
    match node:
        case LaunchNode():
            return f"command {node.index}, {node.image.signature.name}"
        case FillNode():
            return f"command {node.index}, a fill"
        case CopyNode():
            return f"command {node.index}, a copy"
    return f"command {node.index}"
