"""Every kernel of the library on the device, against its meaning on the host in f64."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from cases import FAMILIES
from launches import Case, compare_case, compile_case, declared_images, kernel_file, launch_of
from rows import Row, Status, judged
from session import HALVES, Session
from step_facts import architecture_of

from cgraph.backends.cuda.code_kinds import CodeKind
from cgraph.backends.cuda.compiler import compile_images
from cgraph.backends.devices import DeviceKind
from cgraph.core.elements import Element
from cgraph.diagnostics import ProblemsFound

COMPILERS = 8


def check_family(session: Session, family: str) -> Iterator[Row]:
    """A row for each case and half of a family of kernels."""
    cases = [case for case in FAMILIES[family](reduced=session.reduced) if _has_kernel(case.image)]
    if not cases:
        yield Row(family, Status.SKIPPED, "no kernel is there")
    # A small session tries each kernel with one half, in turn; both are tried by the layer.
    pairs = [
        (case, half)
        for number, case in enumerate(cases)
        for half in (HALVES if not session.reduced else (HALVES[number % len(HALVES)],))
    ]
    compile_at_once(session, pairs)
    for case, half in pairs:
        name = f"{case.title} {half.value}"
        try:
            found = compare_case(case, half, session)
        except ProblemsFound as stopped:
            yield Row(name, Status.FAILED, "; ".join(problem.render_title() for problem in stopped.problems))
            if any(problem.code == "CG742" for problem in stopped.problems):
                return  # a context in which a kernel failed does nothing more
            continue
        except Exception as error:  # noqa: BLE001  (whatever it is, it is about this case)
            yield Row(name, Status.FAILED, f"{type(error).__name__}: {error}")
            continue
        worst = max(found, key=lambda result: result.error / result.bound if result.bound else result.error)
        passed = all(result.error <= result.bound for result in found)
        detail = f"{worst.slot}: relative error {worst.error:.1e}, bound {worst.bound:.1e}"
        yield judged(name, passed, detail, error=worst.error, bound=worst.bound)


def check_coverage(_session: Session) -> Iterator[Row]:
    """Whether every image of the library is among the cases, and has a kernel."""
    tried = {case.image for cases in FAMILIES.values() for case in cases(reduced=True)}
    for name in declared_images():
        if not _has_kernel(name):
            yield Row(name, Status.SKIPPED, "its .cu file is not there: it runs on the host only")
        elif name not in tried:
            yield Row(name, Status.FAILED, "no case in tools/gpu_check/cases.py tries it")
    known = declared_images().keys()
    yield judged("images with a case", known <= tried, f"{len(known & tried)} of {len(known)}")


def _has_kernel(image: str) -> bool:
    return image in declared_images() and kernel_file(image).is_file()


def compile_at_once(session: Session, pairs: list[tuple[Case, Element]]) -> None:
    """Compiles the kernels of all cases in parallel, into the cache; what is wrong is found again when a case runs."""
    if session.device.kind is DeviceKind.HOST:
        return
    architecture = architecture_of(session)
    kind = CodeKind.PTX if session.emulated else CodeKind.CUBIN

    def compile_one(pair: tuple[Case, Element]) -> None:
        image = launch_of(compile_case(*pair)).image
        compile_images([image], pair[1], architecture, kind)

    with ThreadPoolExecutor(COMPILERS) as threads:
        for future in [threads.submit(compile_one, pair) for pair in pairs]:
            future.exception()
