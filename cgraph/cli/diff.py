"""`cgraph diff`: says what differs between two bundles: commands, planes, kernels, parameters, contents."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import click

from cgraph.capture.differences import Difference, bundle_differences
from cgraph.capture.loading import load_bundle
from cgraph.cli.options import EXIT_USAGE, report_problems
from cgraph.diagnostics import ProblemsFound
from cgraph.diagnostics.display import safe_text
from cgraph.view.bundles import view_of_bundle
from cgraph.view.captions import place_text, written_planes
from cgraph.view.comparison import compare_views
from cgraph.view.model import Comparison, Pairing, View

EXIT_DIFFERENT = 1
SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@click.command(epilog="Exit code 0: they are equal; 1: they differ; 2: wrong usage, or a file is no bundle.")
@click.argument("before")
@click.argument("after")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def diff(before: str, after: str, as_json: bool) -> None:
    """Compare the bundles BEFORE and AFTER.

    Commands are paired by the way that led to them and by what they run, so that a command more is one addition.
    """
    try:
        first, second = load_bundle(before), load_bundle(after)
    except ProblemsFound as stopped:
        report_problems(stopped.problems)
        sys.exit(EXIT_USAGE)
    facts = bundle_differences(first, second)
    view = compare_views(view_of_bundle(first, before), view_of_bundle(second, after))
    comparison = view.comparison
    if comparison is None:
        raise TypeError("a compared view without its comparison")
    if as_json:
        click.echo(json.dumps(_data(facts, view, comparison), indent=2))
    else:
        for line in _lines(facts, view, comparison):
            click.echo(safe_text(line))
    if facts or _changed(comparison.nodes) or _changed(comparison.planes):
        sys.exit(EXIT_DIFFERENT)


def _changed(pairings: Sequence[Pairing]) -> list[Pairing]:
    return [pairing for pairing in pairings if pairing.status != "same"]


def _lines(facts: Sequence[Difference], view: View, comparison: Comparison) -> Iterator[str]:
    for fact in facts:
        yield f"{fact.what}: {fact.before} → {fact.after}"
    for pairing in _changed(comparison.planes):
        yield f"{SIGNS[pairing.status]} plane {_plane(view, comparison, pairing)}"
        yield from (f"    {change}" for change in pairing.changes)
    for pairing in _changed(comparison.nodes):
        yield f"{SIGNS[pairing.status]} {_numbers(pairing)} {_node(view, comparison, pairing)}"
        yield from (f"    {change}" for change in pairing.changes)
    counts: Counter[str] = Counter(pairing.status for pairing in comparison.nodes)
    if facts or _changed(comparison.nodes) or _changed(comparison.planes):
        yield "commands: " + ", ".join(f"{counts[status]} {status}" for status in ("same", *reversed(SIGNS)))


def _data(facts: Sequence[Difference], view: View, comparison: Comparison) -> dict[str, object]:
    return {
        "differences": [{"what": fact.what, "before": fact.before, "after": fact.after} for fact in facts],
        "planes": [
            {"status": pairing.status, "plane": _plane(view, comparison, pairing), "changes": list(pairing.changes)}
            for pairing in _changed(comparison.planes)
        ],
        "commands": [
            {
                "status": pairing.status,
                "before": pairing.left,
                "after": pairing.right,
                "command": _node(view, comparison, pairing),
                "changes": list(pairing.changes),
            }
            for pairing in _changed(comparison.nodes)
        ],
    }


def _plane(view: View, comparison: Comparison, pairing: Pairing) -> str:
    if pairing.right is not None:
        return view.planes[pairing.right].name
    return comparison.other.planes[pairing.left or 0].name


def _node(view: View, comparison: Comparison, pairing: Pairing) -> str:
    """What the command runs, what it writes and where it stands; of a command on both sides, on the second."""
    shown, index = (comparison.other, pairing.left) if pairing.right is None else (view, pairing.right)
    node = shown.nodes[index or 0]
    planes = ", ".join(written_planes(shown, node))
    place = "" if node.origin is None else f" at {place_text(shown, node.origin)}"
    return f"{node.label}{planes and f' to {planes}'}{place}"


def _numbers(pairing: Pairing) -> str:
    if pairing.left is None or pairing.right is None:
        return f"command {pairing.left if pairing.right is None else pairing.right}"
    return f"command {pairing.left} → {pairing.right}"
