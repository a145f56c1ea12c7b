"""Kernel files and their code as rows of the manifest and blobs.

Receives modules as the compiler's side makes them; guarantees, when reading, names that lead to no folder outside,
options and macros that cannot name files, code that begins as its kind does, and kernels that take what the images'
slots say. What kernels compute is theirs: a bundle's code is trusted by whoever replays it, as a program's is.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiled import CompiledModule, find_kernel
from cgraph.backends.cuda.entries import Entry, Parameter, Resources, read_entries
from cgraph.backends.cuda.ptx_versions import stated_version
from cgraph.backends.cuda.stored_code import Code, KernelModule
from cgraph.backends.cuda.units import OPTIONS
from cgraph.capture.codec import fields
from cgraph.capture.codec.places import NOTHING
from cgraph.capture.problems_bundle import CodeDoesNotFit
from cgraph.diagnostics import Problem, ProblemsFound
from cgraph.graph.model import Image

MODULE_KEYS = ("file", "text", "includes", "options", "defines", "codes")
CODE_KEYS = ("kind", "architecture", "ptx_version", "entries")
ENTRY_KEYS = ("name", "parameters", "block_threads", "resources")
RESOURCE_KEYS = ("registers", "shared_bytes", "stack_bytes", "spill_store_bytes", "spill_load_bytes")
MOST_MODULES = 4096
LARGEST_FACT = 2**31 - 1
_ARCHITECTURES = {CodeKind.CUBIN: r"sm_\d{2,3}[af]?", CodeKind.PTX: r"compute_\d{2,3}[af]?"}
_DEFINE_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
_DEFINE_VALUE = re.compile(r"[\w.+-]{0,254}", re.ASCII)
_ELF = b"\x7fELF"

ReadBlob = Callable[[str], bytes]


@define(eq=False)
class CodesWriter:
    """Collects kernel files and code; `blobs` are their bytes by name, each text once."""

    blobs: dict[str, bytes] = field(factory=dict)
    codes: list[dict[str, Any]] = field(factory=list)
    _texts: dict[str, int] = field(factory=dict)

    def module(self, module: KernelModule) -> dict[str, Any]:
        """A module as plain data; its texts and codes join the others."""
        return {
            "file": module.file,
            "text": self._text(module.source),
            "includes": [[name, self._text(text)] for name, text in module.includes],
            "options": list(module.options),
            "defines": [list(define) for define in module.defines],
            "codes": [self._code(code) for code in module.codes],
        }

    def _text(self, text: str) -> int:
        row = self._texts.setdefault(text, len(self._texts))
        self.blobs.setdefault(text_blob(row), text.encode())
        return row

    def _code(self, code: Code) -> int:
        row = len(self.codes)
        self.blobs[code_blob(row)] = code.data
        self.codes.append(
            {
                "kind": code.kind.value,
                "architecture": code.architecture,
                "ptx_version": None if code.ptx_version is None else list(code.ptx_version),
                "entries": [_entry_data(entry) for entry in code.entries],
            }
        )
        return row


def text_blob(row: int) -> str:
    """Name of the blob of a text: a kernel file or a header."""
    return f"text {row}"


def code_blob(row: int) -> str:
    """Name of the blob of a code."""
    return f"code {row}"


def read_modules(modules: object, codes: object, read: ReadBlob) -> tuple[KernelModule, ...]:
    """Modules from the manifest's lists of that name. Raises FieldError, and ProblemsFound as `read` does."""
    known = [
        _read_code(data, f"codes.{row}", read(code_blob(row)))
        for row, data in enumerate(fields.listing(codes, "codes", most=MOST_MODULES))
    ]
    texts: dict[int, str] = {}

    def text(row: object, place: str) -> str:
        number = fields.integer(row, place, 0, 2 * MOST_MODULES)
        if number not in texts:
            texts[number] = _decode(read(text_blob(number)), place)
        return texts[number]

    return tuple(
        _read_module(data, f"modules.{row}", text, known)
        for row, data in enumerate(fields.listing(modules, "modules", most=MOST_MODULES))
    )


def read_module_of(value: object, place: str, images: Sequence[Image], modules: Sequence[KernelModule]) -> list[int]:
    """The row of each image's module, or `NOTHING`.

    Raises:
        FieldError: there is no such module, or it is of another file.
        ProblemsFound: a module has no kernel for its image, or one with other parameters (CG813 and CG736 to CG738).
    """
    rows = fields.integers(value, place, NOTHING, len(modules) - 1, len(images))
    problems: list[Problem] = []
    for index, (image, row) in enumerate(zip(images, rows, strict=True)):
        if row == NOTHING:
            continue
        module, signature = modules[row], image.signature
        if module.file != signature.file:
            raise fields.wrong(f"{place}.{index}", f"a module of {signature.file}", module.file)
        for code in module.codes:
            compiled = CompiledModule(Path(module.file), code.architecture, code.kind, b"", code.entries, "")
            problems.extend(find_kernel(image, compiled)[1])
    if problems:
        raise ProblemsFound([CodeDoesNotFit(None, len(problems)), *problems])
    return rows


def _read_module(value: object, place: str, text: Callable[[object, str], str], codes: Sequence[Code]) -> KernelModule:
    file, source, includes, options, defines, rows = fields.record(value, place, MODULE_KEYS)
    headers = []
    for index, data in enumerate(fields.listing(includes, f"{place}.includes", most=MOST_MODULES)):
        here = f"{place}.includes.{index}"
        name, row = fields.listing(data, here, 2)
        headers.append((fields.file_name(name, here), text(row, here)))
    fields.distinct([name for name, _ in headers], f"{place}.includes", "header")
    macros = []
    for index, data in enumerate(fields.listing(defines, f"{place}.defines", most=MOST_MODULES)):
        name, given = fields.texts(data, f"{place}.defines.{index}", fields.text, 2)
        if _DEFINE_NAME.fullmatch(name) is None or _DEFINE_VALUE.fullmatch(given) is None:
            raise fields.wrong(f"{place}.defines.{index}", "a macro's name and a plain value", name)
        macros.append((name, given))
    for index, option in enumerate(fields.texts(options, f"{place}.options", fields.text)):
        # Only these: other options of the compiler read and write files.
        if option not in OPTIONS:
            raise fields.wrong(f"{place}.options.{index}", f"one of {', '.join(OPTIONS)}", option)
    return KernelModule(
        file=fields.file_name(file, f"{place}.file"),
        source=text(source, f"{place}.text"),
        includes=tuple(headers),
        options=tuple(options),
        defines=tuple(macros),
        codes=tuple(codes[row] for row in fields.integers(rows, f"{place}.codes", 0, len(codes) - 1)),
    )


def _read_code(value: object, place: str, data: bytes) -> Code:
    word, architecture, version, entries = fields.record(value, place, CODE_KEYS)
    kind = fields.choice(CodeKind, word, f"{place}.kind")
    if not isinstance(architecture, str) or re.fullmatch(_ARCHITECTURES[kind], architecture, re.ASCII) is None:
        raise fields.wrong(f"{place}.architecture", f"an architecture of {kind.value} code", architecture)
    facts = tuple(
        _read_entry(entry, f"{place}.entries.{row}")
        for row, entry in enumerate(fields.listing(entries, f"{place}.entries", most=MOST_MODULES))
    )
    if kind is CodeKind.CUBIN:
        if version is not None or not data.startswith(_ELF):
            raise fields.FieldError(place, "a cubin, which is an ELF file and has no PTX version", "something else")
        return Code(kind, architecture, None, data, facts)
    major, minor = fields.integers(version, f"{place}.ptx_version", 0, 999, 2)
    if stated_version(data) != (major, minor) or b"\0" in data:
        raise fields.wrong(f"{place}.ptx_version", "the version that the PTX states", version)
    if read_entries(_decode(data, place), "") != facts:
        raise fields.FieldError(f"{place}.entries", "the kernels that the PTX holds", "others")
    return Code(kind, architecture, (major, minor), data, facts)


def _decode(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise fields.FieldError(place, "a text in UTF-8", f"another byte at {error.start}") from error


def _entry_data(entry: Entry) -> dict[str, Any]:
    resources = entry.resources
    return {
        "name": entry.name,
        "parameters": [[parameter.type, parameter.size_bytes] for parameter in entry.parameters],
        "block_threads": entry.block_threads,
        "resources": resources and {key: getattr(resources, key) for key in RESOURCE_KEYS},
    }


def _read_entry(value: object, place: str) -> Entry:
    name, parameters, threads, resources = fields.record(value, place, ENTRY_KEYS)
    known = []
    for index, data in enumerate(fields.listing(parameters, f"{place}.parameters", most=LARGEST_FACT)):
        kind, size_bytes = fields.listing(data, f"{place}.parameters.{index}", 2)
        here = f"{place}.parameters.{index}"
        known.append(Parameter(fields.name(kind, here), fields.integer(size_bytes, here, 0, LARGEST_FACT)))
    facts = None
    if resources is not None:
        numbers = fields.record(resources, f"{place}.resources", RESOURCE_KEYS)
        facts = Resources(*fields.integers(list(numbers), f"{place}.resources", 0, LARGEST_FACT))
    return Entry(
        fields.name(name, f"{place}.name"),
        tuple(known),
        None if threads is None else fields.integer(threads, f"{place}.block_threads", 0, LARGEST_FACT),
        facts,
    )
