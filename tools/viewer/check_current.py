"""Whether the shipped page is what its sources build.

    python tools/viewer/check_current.py

Where node and the packages of package-lock.json are at hand, the page is built again and compared byte by byte.
Elsewhere the hash of the sources that the page carries is compared with that of the sources at hand: so a source that
changed without a new build is found on every machine. Exit code 1 says that the page is stale.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
PAGE = FOLDER.parents[1] / "cgraph" / "view" / "assets" / "page.html"
OTHER_SOURCES = ("build.mjs", "package.json", "package-lock.json", "tsconfig.json")
_RECORDED = re.compile(r'<meta name="sources" content="([0-9a-f]{64})">')


def sources_hash(folder: Path = FOLDER) -> str:
    """SHA-256 of names and texts of all sources, in hexadecimal; `build.mjs` computes the same."""
    names = sorted([*(f"src/{path.name}" for path in (folder / "src").iterdir()), *OTHER_SOURCES])
    digest = hashlib.sha256()
    for name in names:
        text = (folder / name).read_bytes().decode("utf-8").replace("\r\n", "\n")
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def recorded_hash(page: str) -> str | None:
    """The hash that a built page carries, None where it carries none."""
    found = _RECORDED.search(page)
    return found.group(1) if found else None


def can_build(folder: Path = FOLDER) -> bool:
    """Whether node is installed and the packages are."""
    return shutil.which("node") is not None and (folder / "node_modules" / "esbuild").is_dir()


def build(folder: Path = FOLDER) -> bytes:
    """The page, built anew.

    Raises:
        subprocess.CalledProcessError: the build failed; its output says why.
    """
    node = shutil.which("node") or "node"
    with tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "page.html"
        command = [node, str(folder / "build.mjs"), str(output)]
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        return output.read_bytes()


def main() -> int:
    """Prints what was compared; the result is the exit code."""
    page = PAGE.read_bytes()
    if recorded_hash(page.decode("utf-8")) != sources_hash():
        print(f"{PAGE.name} is stale: its sources changed. Build it: npm ci && npm run build, in tools/viewer")
        return 1
    if not can_build():
        print(f"{PAGE.name} was built from these sources (compared by hash; node or its packages are not installed)")
        return 0
    if build() != page:
        print(f"{PAGE.name} is not what its sources build. Build it: npm ci && npm run build, in tools/viewer")
        return 1
    print(f"{PAGE.name} is what its sources build, byte by byte")
    return 0


if __name__ == "__main__":
    sys.exit(main())
