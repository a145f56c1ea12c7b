"""Finds the folders that are no Python: the programs in the language and the kernels in CUDA C++.

In an installed wheel they lie inside the package, in a checkout (also an editable installation) beside it.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def programs_directory() -> Path:
    """The folder of the programs that come with cgraph; its `library` holds what every program may import.

    Raises:
        FileNotFoundError: the installation is not complete.
    """
    return find_directory("programs", _PACKAGE)


def kernels_directory() -> Path:
    """The folder of the .cu files that come with cgraph.

    Raises:
        FileNotFoundError: the installation is not complete.
    """
    return find_directory("kernels_cu", _PACKAGE)


def find_directory(name: str, package: Path) -> Path:
    """The folder inside a package's folder or beside it; inside first, because beside a wheel lie other packages.

    Raises:
        FileNotFoundError: it is in neither place.
    """
    places = (package / name, package.parent / name)
    for place in places:
        if place.is_dir():
            return place
    tried = " nor ".join(str(place) for place in places)
    raise FileNotFoundError(f"cgraph's folder {name} is neither {tried}: the installation is not complete")
