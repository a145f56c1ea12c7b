"""Changes valid bundles at random and loads them: each is refused with a CG8xx, or safe.

    python tools/fuzz/bundles.py [--count 10000] [--seed 0] [--kind bytes|text|manifest] [--keep FOLDER] [FILE …]

Each case changes one valid bundle: bytes of its file; the text of its manifest, with a checksum that agrees; or values
of its manifest and bytes of its blobs, with all checksums, so that what stands behind the checksums is reached. A file
whose checksums were left alone must be refused if one byte differs. Any other is refused too, or holds a bundle that
the oracle finds safe, that is written as it was read, and that can be described and compared. A case that takes longer
than `MOST_SECONDS` or more memory than `MOST_BYTES` fails. The first failures are printed with their numbers; the same
seed and number give the same case. Exit code 1 where one failed.
"""

import argparse
import resource
import signal
import sys
import traceback
from collections import Counter
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cgraph.capture.container import ALIGNMENT_BYTES, FORMAT_VERSION, HEADER, MAGIC, read_container, write_container
from tools.fuzz.case import judge
from tools.fuzz.mutations import mutate_bytes, mutate_manifest, mutate_text
from tools.fuzz.oracle import Unsafe
from tools.fuzz.samples import write_samples

KINDS = ("bytes", "text", "manifest")
MOST_SECONDS = 10
MOST_BYTES = 2 * 1024**3  # of the whole process, libraries included; the samples are below 1 MB
MOST_SHOWN = 10


def make_case(sample: Path, kind: str, random: Random, path: Path) -> bool:
    """Writes a changed sample; whether it differs from the sample and no checksum was made anew."""
    data = sample.read_bytes()
    if kind == "bytes":
        changed = mutate_bytes(data, random)
        path.write_bytes(changed)
        return changed != data
    manifest, blobs = read_container(sample)
    contents = {name: blobs.read(name) for name in blobs.names}
    if kind == "text":
        _, _, size_bytes, _ = HEADER.unpack_from(data)
        text = mutate_text(data[HEADER.size : HEADER.size + size_bytes], random)
        written = bytearray(HEADER.pack(MAGIC, FORMAT_VERSION, len(text), sha256(text).digest()) + text)
        for part in contents.values():
            written += bytes(-len(written) % ALIGNMENT_BYTES) + part
        path.write_bytes(written)
        return False
    changed_manifest, contents = mutate_manifest(manifest, contents, random)
    changed_manifest.pop("blobs", None)
    try:
        write_container(path, changed_manifest, contents)
    except ValueError:  # a value that JSON does not have; the text's changes try those
        path.write_bytes(data)
    return False


def run(samples: list[Path], count: int, seed: int, kinds: tuple[str, ...], folder: Path, keep: Path | None) -> int:
    """Runs the cases and prints what happened; gives the number of failures."""
    outcomes: Counter[str] = Counter()
    failures, slowest, start = 0, 0.0, perf_counter()
    for number in range(count):
        random = Random(f"{seed} {number}")  # noqa: S311  (cases shall be the same again, not hard to guess)
        sample, kind = random.choice(samples), random.choice(kinds)
        path = folder / "case.cgb"
        must_fail = make_case(sample, kind, random, path)
        before = perf_counter()
        signal.alarm(MOST_SECONDS)
        try:
            outcome = judge(path, folder / "again.cgb")
            if must_fail and outcome == "loaded":
                raise Unsafe("a changed byte was not noticed")  # noqa: TRY301  (one place for all failures)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failures += 1
            outcome = f"FAILED {type(error).__name__}"
            if keep is not None:
                (keep / f"{seed}_{number}_{sample.stem}_{kind}.cgb").write_bytes(path.read_bytes())
            if failures <= MOST_SHOWN:
                print(f"--- seed {seed}, number {number}, {sample.name}, {kind}")
                traceback.print_exception(error, limit=-6)
        finally:
            signal.alarm(0)
        slowest = max(slowest, perf_counter() - before)
        outcomes[f"{kind}: {outcome}"] += 1
    for outcome, times in sorted(outcomes.items()):
        print(f"{times:>8}  {outcome}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{count} cases, {failures} failures, {perf_counter() - start:.0f} s, the slowest {slowest:.2f} s")
    print(f"the process took at most {peak / 2**20:.0f} MiB")
    return failures


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="valid bundles; own samples where none is given")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--keep", type=Path, help="where files of failures go")
    arguments = parser.parse_args()
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        samples = arguments.files or write_samples(folder)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        signal.signal(signal.SIGALRM, _stop)
        kinds = tuple(arguments.kind or KINDS)
        failures = run(samples, arguments.count, arguments.seed, kinds, folder, arguments.keep)
    sys.exit(1 if failures else 0)


def _stop(_number: int, _frame: object) -> None:
    raise TimeoutError(f"longer than {MOST_SECONDS} s")


if __name__ == "__main__":
    main()
