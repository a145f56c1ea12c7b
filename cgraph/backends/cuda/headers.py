"""Finds the folders with CUDA's own headers (cuda_fp16.h and others), which NVRTC does not bring along.

cgraph's kernels include none of them; a user's kernel may. So nothing is wrong while they are missing: the places that
were tried are kept for the message about an include that failed.
"""

import os
from functools import cache
from pathlib import Path

from attrs import frozen
from cuda.pathfinder import find_nvidia_header_directory

# A header that every complete set has.
PROBE = "cuda_fp16.h"
VARIABLES = ("CUDA_PATH", "CUDA_HOME")
TOOLKITS = ("/usr/local/cuda", "/opt/cuda")


@frozen
class CudaHeaders:
    """Where CUDA's headers are.

    Args:
        directories: to be given to the compiler; () where there are none.
        tried: the places that were looked at, in their order, for people.
        identity: differs where the headers differ; part of the cache's keys.
    """

    directories: tuple[Path, ...]
    tried: tuple[str, ...]
    identity: str = ""


@cache
def find_cuda_headers() -> CudaHeaders:
    """The first complete set of headers: PyPI's packages, then $CUDA_PATH, $CUDA_HOME, then an installed toolkit."""
    packages = find_nvidia_header_directory("cudart")
    candidates = [("the package nvidia-cuda-runtime", packages and Path(packages))]
    for variable in VARIABLES:
        value = os.environ.get(variable)
        candidates.append((f"${variable}", Path(value) / "include" if value else None))
    candidates += [(place, Path(place) / "include") for place in TOOLKITS]
    tried: list[str] = []
    for name, directory in candidates:
        if directory is not None and (directory / PROBE).is_file():
            facts = (directory / PROBE).stat()
            identity = f"{facts.st_size} {facts.st_mtime_ns}"
            return CudaHeaders(_with_libcudacxx(directory), (*tried, str(directory)), identity)
        tried.append(f"{name}: {'not there' if directory is None else f'no {PROBE} in {directory}'}")
    return CudaHeaders((), tuple(tried))


def _with_libcudacxx(directory: Path) -> tuple[Path, ...]:
    """The folder, and from toolkit 13 on the one inside it that holds <cuda/…>."""
    inner = directory / "cccl"
    return (directory, inner) if inner.is_dir() else (directory,)
