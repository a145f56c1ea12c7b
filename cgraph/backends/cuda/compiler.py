"""Compiles the .cu files of images: one module for all images that share a file, for one device and one `half`.

Receives images with bound sizes; guarantees code whose kernels take exactly what the images' slots say. Loading the
code is left to the driver's side, executing it to the device or the emulator.

What a kernel sees: C++17; `CG_HALF` is 1 where half is f16 and 2 where it is bf16; each constant of an image is a
macro. Images of one file are compiled together, and a constant of one of them is visible to all; a kernel that needs
a constant stands behind `#ifdef` of it, so that the file compiles for programs that do not use that image.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

from cgraph.backends.cuda.cache import cache_directory, key_of, load, store
from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compilation_errors import explain_failure
from cgraph.backends.cuda.compiled import CompiledKernel, CompiledModule, find_kernel
from cgraph.backends.cuda.entries import Entry, Parameter, Resources, read_entries
from cgraph.backends.cuda.headers import find_cuda_headers
from cgraph.backends.cuda.nvrtc import nvrtc_version, run_nvrtc
from cgraph.backends.cuda.problems_compiler import ArchitectureUnknown, HalfNotOnDevice
from cgraph.backends.cuda.sources import HALF_HEADER, HALF_MACRO, KernelSource, find_kernel_source, with_includes
from cgraph.backends.cuda.stored_code import KernelModule
from cgraph.backends.cuda.units import OPTIONS, constants_of, group_images, macros_of
from cgraph.core.elements import Element
from cgraph.core.signatures import Signature
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image

OLDEST_CAPABILITY = 80
# Where the files of a stored module seem to lie: line tables name the same folder on every machine.
STORED_FOLDER = PurePosixPath("/bundle")


def compile_images(
    images: Sequence[Image], half: Element, architecture: str, kind: CodeKind = CodeKind.CUBIN
) -> tuple[CompiledKernel, ...]:
    """The kernels of images, in their order.

    Args:
        images: with constants put in.
        half: what the build bound `half` to.
        architecture: of the device, e.g. `sm_90`; PTX runs on it and newer ones.
        kind: of code.

    Raises:
        ProblemsFound: CG730 to CG739, all that are found.
    """
    kernels: dict[int, CompiledKernel] = {}
    problems: list[Problem] = []
    groups = tuple(group_images(images))

    def compile_group(group: list[int]) -> CompiledModule | ProblemsFound:
        first = images[group[0]].signature
        constants = constants_of(images[number] for number in group)
        try:
            return compile_file(find_kernel_source(first), first, constants, half, architecture, kind)
        except ProblemsFound as stopped:
            return stopped

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        modules = tuple(threads.map(compile_group, groups))
    for group, module in zip(groups, modules, strict=True):
        if isinstance(module, ProblemsFound):
            problems.extend(module.problems)
            continue
        for number in group:
            kernel, found = find_kernel(images[number], module)
            problems.extend(found)
            if kernel is not None:
                kernels[number] = kernel
    if problems:
        raise ProblemsFound(problems)
    return tuple(kernels[number] for number in range(len(images)))


def compile_file(
    source: KernelSource,
    signature: Signature,
    constants: Mapping[str, int],
    half: Element,
    architecture: str,
    kind: CodeKind = CodeKind.CUBIN,
) -> CompiledModule:
    """The code of one file, from the cache or compiled now.

    Args:
        source: the file.
        signature: of an image that needs it, for messages.
        constants: macros.
        half: as for `compile_images`, and so the rest.
        architecture: the same.
        kind: the same.

    Raises:
        ProblemsFound: CG730, CG733 to CG735 or CG739.
    """
    if half not in HALF_MACRO and source.needs(HALF_HEADER):
        raise ProblemsFound([HalfNotOnDevice(signature.span, signature.name, half.value)])
    folders = (*source.include_directories, *find_cuda_headers().directories)
    options = (*OPTIONS, *_places(folders), *_definitions(macros_of(constants, half)))
    return _compiled(source, signature, options, architecture, kind)


def compile_stored(module: KernelModule, signature: Signature, architecture: str, kind: CodeKind) -> CompiledModule:
    """The code of a file that was stored with all that it includes, from the cache or compiled now.

    Of this machine's files only CUDA's own headers are read.

    Args:
        module: the file's text, headers, options and macros.
        signature: of an image that needs it, for messages.
        architecture: as for `compile_images`.
        kind: the same.

    Raises:
        ProblemsFound: CG730, CG734, CG735 or CG739.
    """
    places = {name: str(STORED_FOLDER / name) for name, _ in module.includes}
    # A header by its whole name is found in memory alone, and its line table does not name the current folder.
    headers = tuple((places[name], with_includes(text, places)) for name, text in module.includes)
    source = KernelSource(
        Path(STORED_FOLDER / module.file),
        with_includes(module.source, places),
        tuple((Path(name), text) for name, text in headers),
    )
    options = (*module.options, *_places(find_cuda_headers().directories), *_definitions(module.defines))
    return _compiled(source, signature, options, architecture, kind, headers)


def _compiled(
    source: KernelSource,
    signature: Signature,
    options: tuple[str, ...],
    architecture: str,
    kind: CodeKind,
    headers: tuple[tuple[str, str], ...] = (),
) -> CompiledModule:
    """`headers` are names and texts that the compiler takes from memory."""
    version = nvrtc_version()
    known = tuple(f"sm_{number}" for number in version.architectures if number >= OLDEST_CAPABILITY)
    if architecture.rstrip("af") not in known:
        raise ProblemsFound([ArchitectureUnknown(None, architecture, version.number, known)])
    # PTX is asked for by a virtual architecture, which leaves out the assembler.
    target = architecture if kind is CodeKind.CUBIN else architecture.replace("sm_", "compute_", 1)
    options = (f"--gpu-architecture={target}", *options)
    texts = (f"{path}\n{text}" for path, text in source.includes)
    key = key_of([version.number, find_cuda_headers().identity, *options, str(source.path), source.text, *texts])
    directory = cache_directory() / "kernels"
    stored = load(directory, key)
    if stored is not None:
        entries = tuple(_entry_of(facts) for facts in stored[0]["entries"])
        return CompiledModule(source.path, architecture, kind, stored[1], entries, key)
    output = run_nvrtc(source.text, str(source.path), options, headers)
    if not output.succeeded:
        raise ProblemsFound([explain_failure(source, signature, output.log)])
    code = output.cubin if kind is CodeKind.CUBIN else output.ptx.encode()
    entries = read_entries(output.ptx, output.log)
    store(directory, key, {"entries": [_facts_of(entry) for entry in entries]}, code)
    return CompiledModule(source.path, architecture, kind, code, entries, key)


def _places(folders: Iterable[Path]) -> Iterable[str]:
    return (f"--include-path={folder}" for folder in folders)


def _definitions(macros: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (f"--define-macro={name}={value}" for name, value in macros)


def _facts_of(entry: Entry) -> list[object]:
    resources = entry.resources
    return [
        entry.name,
        [[parameter.type, parameter.size_bytes] for parameter in entry.parameters],
        entry.block_threads,
        None
        if resources is None
        else [
            resources.registers,
            resources.shared_bytes,
            resources.stack_bytes,
            resources.spill_store_bytes,
            resources.spill_load_bytes,
        ],
    ]


def _entry_of(facts: list[Any]) -> Entry:
    """As `_facts_of` gave them, which the cache's checksum vouches for."""
    name, parameters, block_threads, resources = facts
    return Entry(
        name,
        tuple(Parameter(*pair) for pair in parameters),
        block_threads,
        None if resources is None else Resources(*resources),
    )
