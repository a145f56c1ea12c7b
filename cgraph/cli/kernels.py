"""`cgraph kernels`: compiles kernels and says what they take. Needs NVRTC, but no GPU."""

import json
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from cgraph.backends.cuda_modules import cuda_module
from cgraph.build.images import concrete_images
from cgraph.cli.options import EXIT_PROBLEMS, exit_with, parse_settings, read_source
from cgraph.core.collection import paused_collection
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound
from cgraph.graph.model import Image
from cgraph.pipeline import check, parse
from cgraph.resources import programs_directory

PIPED_COLUMNS = 120
ARCHITECTURE = "sm_80"
Facts = Sequence[Any]


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter's value.")
@click.option(
    "--half", type=click.Choice(["f16", "bf16"]), default="f16", show_default=True, help="What `half` stands for."
)
@click.option(
    "--arch",
    "architectures",
    multiple=True,
    default=(ARCHITECTURE,),
    show_default=True,
    metavar="sm_NN",
    help="A device's architecture; several are allowed.",
)
@click.option("--strict", is_flag=True, help="Fail where a kernel spills registers.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of text.")
def kernels(
    files: tuple[str, ...],
    settings: tuple[str, ...],
    half: str,
    architectures: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    r"""Compile the kernels of FILE's images, or of the library's, and say what each takes.

    Spilled bytes are those that a thread moves to memory because its registers do not suffice. Occupancy is the share
    of a multiprocessor's warps that run at once, at the declared block.

    \b
    Exit code 0: all compile; 1: errors, or spills with --strict; 2: wrong usage, or a file that cannot be read.
    """
    values = parse_settings(settings)
    names = files or (str(programs_directory() / "library" / "images.cg"),)
    try:
        images = [image for name in names for image in _images(name, values, Element(half))]
        facts = [fact for architecture in architectures for fact in _inspect(images, Element(half), architecture)]
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    spilling = sum(fact.resources.spills for fact in facts)
    if as_json:
        click.echo(json.dumps([_data(fact, half) for fact in facts], indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else PIPED_COLUMNS, highlight=False)
        for architecture in architectures:
            chosen = [fact for fact in facts if fact.architecture == architecture]
            console.print(_table(chosen, f"{len(chosen)} kernels, {architecture}, half = {half}"))
        if spilling:
            console.print(f"{spilling} of {len(facts)} kernels spill registers")
    if strict and spilling:
        sys.exit(EXIT_PROBLEMS)


def _images(name: str, values: dict[str, int | float], half: Element) -> tuple[Image, ...]:
    """Images of one program. Raises ProblemsFound as `check` and `concrete_images` do."""
    with paused_collection():
        program, _warnings = check(parse(read_source(name)))
        return concrete_images(program, values, half)


def _inspect(images: Sequence[Image], half: Element, architecture: str) -> Facts:
    """Facts by the CUDA backend, which is imported only now. Raises ProblemsFound (CG730 to CG739, CG748)."""
    facts: Facts = cuda_module("inspection").inspect_kernels(images, half, architecture)
    return facts


def _table(facts: Facts, title: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("kernel")
    for column in ("block", "registers", "shared", "dynamic", "spilled", "blocks", "occupancy"):
        table.add_column(column, justify="right")
    for fact in facts:
        resources = fact.resources
        table.add_row(
            f"{fact.image.signature.entry} ({fact.image.signature.file})",
            _text(fact.block_threads),
            str(resources.registers),
            str(resources.shared_bytes),
            _text(fact.dynamic_shared_bytes),
            str(resources.spill_store_bytes + resources.spill_load_bytes),
            _text(fact.occupancy and fact.occupancy.blocks),
            "–" if fact.occupancy is None else f"{fact.occupancy.share:.0%}",
        )
    return table


def _text(number: int | None) -> str:
    """What is not known before a launch is a dash."""
    return "–" if number is None else str(number)


def _data(fact: Any, half: str) -> dict[str, object]:
    resources, held = fact.resources, fact.occupancy
    return {
        "image": fact.image.signature.name,
        "file": fact.image.signature.file,
        "entry": fact.image.signature.entry,
        "constants": dict(fact.image.constants),
        "half": half,
        "architecture": fact.architecture,
        "block_threads": fact.block_threads,
        "registers": resources.registers,
        "shared_bytes": resources.shared_bytes,
        "dynamic_shared_bytes": fact.dynamic_shared_bytes,
        "stack_bytes": resources.stack_bytes,
        "spill_store_bytes": resources.spill_store_bytes,
        "spill_load_bytes": resources.spill_load_bytes,
        "blocks_per_multiprocessor": None if held is None else held.blocks,
        "occupancy": None if held is None else held.share,
        "module_bytes": fact.code_bytes,
    }
