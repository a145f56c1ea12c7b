"""Builds and loads the small C library that programs take for libcuda.so.1.

Receives nothing but the machine; guarantees a library that is built once for its text, its compiler's name and the
machine, and lies in the cache folder. Who answers its calls is left to `resolver`.
"""

import ctypes
import os
import platform
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from cgraph.backends.cuda.cache import cache_directory, key_of
from cgraph.diagnostics import ProblemsFound
from cgraph.emulator.driver.problems_driver import NoCompiler, StubNotBuilt

SOURCE = Path(__file__).with_name("driver_stub.c")
LIBRARY_NAME = "libcuda.so.1"
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-shared", "-fPIC", "-O1", f"-Wl,-soname,{LIBRARY_NAME}")
BUILD_LIMIT_S = 120


def find_compiler() -> tuple[str, ...]:
    """The C compiler's command: $CC, else the first of `COMPILERS` on the path. Raises ProblemsFound (CG745)."""
    named = shlex.split(os.environ.get("CC", ""))
    for command in ([*named], *([name] for name in COMPILERS)):
        if command and which(command[0]):
            return tuple(command)
    raise ProblemsFound([NoCompiler(None, (*named[:1], *COMPILERS))])


def build_stub(directory: Path | None = None) -> Path:
    """The built library, from the cache or built now.

    Args:
        directory: the cache; cgraph's own where it is None.

    Raises:
        ProblemsFound: CG745 where there is no compiler, CG746 where it fails.
    """
    text = SOURCE.read_text(encoding="utf-8")
    key = key_of([text, *FLAGS, platform.machine(), platform.libc_ver()[0]])
    folder = (cache_directory() if directory is None else directory) / "driver" / key[:24]
    library = folder / LIBRARY_NAME
    if library.is_file():
        return library
    command = find_compiler()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix="build.") as build:
            made = Path(build) / LIBRARY_NAME
            _compile([*command, *FLAGS, str(SOURCE), "-o", str(made)])
            # Renamed into place, so that a process that comes by meanwhile sees all of it or nothing.
            made.replace(library)
    except OSError as error:
        raise ProblemsFound([StubNotBuilt(None, str(folder), str(error))]) from error
    return library


def load_stub(library: Path) -> ctypes.CDLL:
    """Loads the library so that a later search for libcuda.so.1 finds it. Raises ProblemsFound (CG746)."""
    try:
        return ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    except OSError as error:
        # A file that does not load is built again next time.
        with suppress(OSError):
            library.unlink()
        raise ProblemsFound([StubNotBuilt(None, "it does not load", str(error))]) from error


def _compile(command: list[str]) -> None:
    try:
        done = subprocess.run(  # noqa: S603  (the user's own compiler)
            command, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ProblemsFound([StubNotBuilt(None, f"{command[0]} did not end", str(error))]) from error
    if done.returncode != 0:
        raise ProblemsFound([StubNotBuilt(None, f"{command[0]} failed", done.stderr)])
