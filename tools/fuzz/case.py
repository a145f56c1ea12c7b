"""One changed bundle: what loading it must do.

Receives a file; gives what happened in a word, or raises what must not. Whoever calls bounds time and memory.
"""

from pathlib import Path

from cgraph.capture.differences import bundle_differences
from cgraph.capture.facts import bundle_facts, command_facts
from cgraph.capture.loading import load_bundle
from cgraph.capture.model import Bundle
from cgraph.capture.saving import save_bundle
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.renderer import render
from tools.fuzz.oracle import Unsafe, check_safe

MOST_COMMANDS = 300  # for the oracle, which compares all pairs


def judge(path: Path, again: Path) -> str:
    """The code of the refusal, or `loaded` for a bundle that is safe.

    Args:
        path: of the changed file.
        again: where the bundle is written once more.

    Raises:
        Unsafe: the bundle breaks a rule, or is refused without a code of bundles.
        Exception: any other is a crash.
    """
    try:
        bundle = load_bundle(path)
    except ProblemsFound as stopped:
        code = stopped.problems[0].code
        if not code.startswith("CG8"):
            raise Unsafe(f"refused with {code}") from stopped
        render(stopped.problems, colour=False, width=100)
        return code
    bundle_facts(bundle)
    if isinstance(bundle, Bundle):
        if len(bundle.graph.nodes) <= MOST_COMMANDS:
            check_safe(bundle)
        list(command_facts(bundle.graph))
    try:
        save_bundle(bundle, again)
    except ProblemsFound as stopped:
        raise Unsafe(f"cannot be written again: {stopped}") from stopped
    # What nobody refers to, such as a text of the table of texts, is not written again; after that nothing changes.
    written, loaded = again.read_bytes(), load_bundle(again)
    save_bundle(loaded, again)
    if bundle_differences(bundle, loaded) or again.read_bytes() != written:
        raise Unsafe("is written as another bundle")
    return "loaded"
