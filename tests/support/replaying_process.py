"""A process of its own that replays a bundle where neither the program, the kernels nor a compiler can be reached.

Arguments: the bundle, the device, how often, and `cuda` where CUDA's packages may be imported, but NVRTC.
It first takes 100 MB of memory, so that nothing lies where it lay in the process that saved.
"""

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
HIDDEN = tuple(str(ROOT / name) for name in ("programs", "kernels_cu"))
TAKEN_BYTES = 100 * 10**6


def guard(*, cuda: bool) -> None:
    """From now on these files cannot be opened or listed, and these modules cannot be imported."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith(HIDDEN):
            raise PermissionError(f"{arguments[0]} is out of reach")
        if event == "import":
            name = str(arguments[0])
            if name == "cuda.bindings.nvrtc" or (not cuda and name.partition(".")[0] == "cuda"):
                raise ImportError(f"{name} is out of reach")

    sys.addaudithook(watch)
    with suppress(PermissionError):
        (ROOT / "kernels_cu" / "common.cuh").read_text(encoding="utf-8")
        raise AssertionError("the guard lets files be read")
    with suppress(ImportError):
        import_module("cuda.bindings.nvrtc")
        raise AssertionError("the guard lets the compiler be imported")


def main(path: str, device: str, times: int) -> None:
    taken = np.ones(TAKEN_BYTES, np.uint8)
    from cgraph.capture import Bundle, Replay  # noqa: PLC0415  (the guard stands before it)

    with Replay(path, device) as replay:
        bundle = replay.bundle
        assert isinstance(bundle, Bundle)
        assert bundle.recording is not None
        expected = {name: array.tobytes() for name, array in bundle.recording.outputs.items()}
        assert expected
        for number in range(times):
            replay.reset()
            replay.run()
            for name, bits in expected.items():
                assert replay.get(name).tobytes() == bits, f"replay {number}: {name}"
    assert "cuda.bindings.nvrtc" not in sys.modules
    assert taken.sum() == TAKEN_BYTES
    sys.stdout.write(f"{times} replays, {len(expected)} results\n")


if __name__ == "__main__":
    bundle_path, device_name, count, packages = sys.argv[1:]
    guard(cuda=packages == "cuda")
    main(bundle_path, device_name, int(count))
