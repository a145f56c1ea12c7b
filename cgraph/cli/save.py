"""`cgraph save`: builds a program and writes it as a bundle, with its kernels, and with contents of planes if asked."""

import json
import re
from pathlib import Path

import click

from cgraph.capture.saving import make_bundle, save_bundle, warn_of_missing_code
from cgraph.cli.options import exit_with, parse_settings, program_options, read_source, report_problems
from cgraph.cli.run import fill
from cgraph.core.elements import Element
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.models.inputs import fit_inputs
from cgraph.models.plane_files import load_planes
from cgraph.pipeline import compile_program
from cgraph.schedule.model import Order

# Cubins run on devices of their major capability with the same or a newer minor one: these two cover 8.x and 9.x.
ARCHITECTURES = ("sm_80", "sm_90")
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")


@click.command(epilog="Exit code 0: it is written; 1: errors; 2: wrong usage, or a file cannot be read.")
@program_options
@click.option("-o", "--out", required=True, metavar="FILE", help="Where to; a file of that name is replaced.")
@click.option("--with-data", "with_data", is_flag=True, help="Store contents of every plane that a run reads.")
@click.option("--inputs", metavar="FILE", help="Contents to store, .safetensors or .npz; others are random.")
@click.option(
    "--forward", "named", metavar="FILE[:ENTRY]", help="Fills planes that a forward pass saves. [default: beside FILE]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random values.")
@click.option(
    "--architecture",
    "architectures",
    multiple=True,
    default=ARCHITECTURES,
    show_default=True,
    metavar="sm_NN",
    help="A device to make machine code for; several are allowed.",
)
@click.option("--no-cubin", "without_cubins", is_flag=True, help="Store PTX and texts, but no machine code.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def save(
    file: str,
    entry: str | None,
    settings: tuple[str, ...],
    half: str,
    order: str,
    out: str,
    with_data: bool,
    inputs: str | None,
    named: str | None,
    seed: int,
    architectures: tuple[str, ...],
    without_cubins: bool,
    as_json: bool,
) -> None:
    """Write the program FILE as a bundle: commands, order, memory plan, and its kernels' text, PTX and machine code.

    `cgraph replay` runs it without the program and without a compiler. Machine code is for the devices it was made for;
    PTX is for all newer ones whose driver reads it.
    """
    values = parse_settings(settings)
    for architecture in architectures:
        if _ARCHITECTURE.fullmatch(architecture) is None:
            raise click.BadParameter(f"`{architecture}` is no architecture such as sm_90", param_hint="--architecture")
    try:
        arrays = {} if inputs is None else load_planes(Path(inputs))
        compiled = compile_program(read_source(file), values, entry=entry, half=Element(half), order=Order(order))
        warnings: tuple[Problem, ...]
        if with_data:
            contents, _forward, warnings = fill(compiled, file, named, arrays, seed)
            known = {plane.name for plane in compiled.graph.planes}
            contents = {name: array for name, array in contents.items() if name in known}
        else:
            contents, warnings = fit_inputs(compiled.graph, arrays)
        bundle = make_bundle(
            compiled.graph,
            compiled.schedule,
            compiled.plan,
            architectures=() if without_cubins else architectures,
            data=contents,
        )
        save_bundle(bundle, out)
    except ProblemsFound as stopped:
        exit_with(stopped)
        return
    warnings = (*compiled.warnings, *warnings, *warn_of_missing_code(bundle))
    if warnings:
        report_problems(warnings)
    size_bytes = Path(out).stat().st_size
    files = [module.file for module in bundle.modules]
    codes = [f"{code.kind.value} {code.architecture}" for module in bundle.modules for code in module.codes]
    facts = {
        "file": out,
        "size_bytes": size_bytes,
        "commands": len(bundle.graph.nodes),
        "kernel_files": files,
        "code": list(dict.fromkeys(codes)),
        "contents": list(bundle.data),
    }
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    kernels = f"{len(files)} kernel files with {', '.join(dict.fromkeys(codes)) or 'no code'}"
    planes = f"contents of {len(bundle.data)} planes" if bundle.data else "no contents of planes"
    click.echo(f"{out}: {len(bundle.graph.nodes)} commands, {kernels}, {planes}, {size_bytes:,} bytes")
