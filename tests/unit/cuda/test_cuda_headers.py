"""The order in which folders of CUDA's headers are looked for."""

from pathlib import Path

import pytest

from cgraph.backends.cuda import headers

search = headers.find_cuda_headers.__wrapped__


def make_headers(folder: Path, *more: str) -> Path:
    for name in ("", *more):
        (folder / name).mkdir(parents=True)
    (folder / headers.PROBE).write_text("// headers\n", encoding="utf-8")
    return folder


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Complete headers everywhere."""
    found = {
        "package": make_headers(tmp_path / "package", "cccl"),
        "path": make_headers(tmp_path / "path" / "include"),
        "home": make_headers(tmp_path / "home" / "include"),
        "toolkit": make_headers(tmp_path / "toolkit" / "include"),
    }
    monkeypatch.setattr(headers, "find_nvidia_header_directory", lambda _name: str(found["package"]))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "path"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(headers, "TOOLKITS", (str(tmp_path / "toolkit"),))
    return found


def test_the_first_complete_place_is_taken(places: dict[str, Path]) -> None:
    assert search().directories == (places["package"], places["package"] / "cccl")
    for name, following in (("package", "path"), ("path", "home"), ("home", "toolkit")):
        (places[name] / headers.PROBE).unlink()
        assert search().directories == (places[following],)


def test_all_places_are_named_when_there_are_no_headers(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in places.values():
        (folder / headers.PROBE).unlink()
    monkeypatch.setattr(headers, "find_nvidia_header_directory", lambda _name: None)
    monkeypatch.delenv("CUDA_HOME")
    found = search()
    assert found.directories == ()
    assert len(found.tried) == 4
    assert found.tried[0] == "the package nvidia-cuda-runtime: not there"
    assert found.tried[1].startswith("$CUDA_PATH: no cuda_fp16.h in ")
    assert found.tried[2] == "$CUDA_HOME: not there"


def test_other_headers_have_another_identity(places: dict[str, Path]) -> None:
    before = search().identity
    (places["package"] / headers.PROBE).write_text("// other headers\n", encoding="utf-8")
    assert search().identity != before
