import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cgraph import resources

ROOT = Path(__file__).parents[2]


def test_in_a_checkout_the_folders_stand_beside_the_package() -> None:
    assert resources.programs_directory() == ROOT / "programs"
    assert resources.kernels_directory() == ROOT / "kernels_cu"
    assert (resources.programs_directory() / "library" / "sizes.cg").is_file()


def test_a_folder_inside_the_package_comes_first(tmp_path: Path) -> None:
    inside, beside = tmp_path / "cgraph" / "programs", tmp_path / "programs"
    beside.mkdir()
    assert resources.find_directory("programs", tmp_path / "cgraph") == beside
    inside.mkdir(parents=True)
    assert resources.find_directory("programs", tmp_path / "cgraph") == inside


def test_an_installation_without_the_folder_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not complete") as failure:
        resources.find_directory("programs", tmp_path / "cgraph")
    assert str(tmp_path / "cgraph" / "programs") in str(failure.value)
    assert str(tmp_path / "programs") in str(failure.value)


def _files_below(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_a_wheel_holds_the_folders_and_finds_them(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    package = installed / "cgraph"
    assert _files_below(package / "programs") >= _files_below(ROOT / "programs")
    assert _files_below(package / "kernels_cu") >= _files_below(ROOT / "kernels_cu")
    assert _files_below(package) >= _files_below(ROOT / "cgraph")

    code = "from cgraph import resources as r; print(r.programs_directory()); print(r.kernels_directory())"
    environment = os.environ | {"PYTHONPATH": str(installed)}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == [str(package / "programs"), str(package / "kernels_cu")]
