"""Results of driver calls, with the names and texts of cuda.h, and the exception that carries one inside the emulator.

Numbers are those of `CUresult` in cuda.h (CUDA 13); only results that the emulated driver gives are here.
"""

from enum import IntEnum


class Result(IntEnum):
    """A driver call's result."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    FILE_NOT_FOUND = 301
    INVALID_HANDLE = 400
    LOSSY_QUERY = 402
    NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    PRIMARY_CONTEXT_ACTIVE = 708
    CONTEXT_IS_DESTROYED = 709
    ASSERT = 710
    ILLEGAL_INSTRUCTION = 715
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    NOT_PERMITTED = 800
    NOT_SUPPORTED = 801
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_MERGE = 902
    STREAM_CAPTURE_UNMATCHED = 903
    STREAM_CAPTURE_UNJOINED = 904
    STREAM_CAPTURE_ISOLATION = 905
    STREAM_CAPTURE_IMPLICIT = 906
    CAPTURED_EVENT = 907
    STREAM_CAPTURE_WRONG_THREAD = 908
    GRAPH_EXEC_UPDATE_FAILURE = 910
    UNKNOWN = 999

    @property
    def full_name(self) -> str:
        """The name in cuda.h, e.g. `CUDA_ERROR_INVALID_VALUE`."""
        return "CUDA_SUCCESS" if self is Result.SUCCESS else f"CUDA_ERROR_{self.name}"

    @property
    def text(self) -> str:
        """What `cuGetErrorString` says."""
        return _TEXTS[self]


_TEXTS = {
    Result.SUCCESS: "no error",
    Result.INVALID_VALUE: "invalid argument",
    Result.OUT_OF_MEMORY: "out of memory",
    Result.NOT_INITIALIZED: "initialization error",
    Result.NO_DEVICE: "no CUDA-capable device is detected",
    Result.INVALID_DEVICE: "invalid device ordinal",
    Result.INVALID_IMAGE: "device kernel image is invalid",
    Result.INVALID_CONTEXT: "invalid device context",
    Result.NO_BINARY_FOR_GPU: "no kernel image is available for execution on the device",
    Result.INVALID_PTX: "a PTX JIT compilation failed",
    Result.FILE_NOT_FOUND: "file not found",
    Result.INVALID_HANDLE: "invalid resource handle",
    Result.LOSSY_QUERY: "attempted lossy query",
    Result.NOT_FOUND: "named symbol not found",
    Result.NOT_READY: "device not ready",
    Result.ILLEGAL_ADDRESS: "an illegal memory access was encountered",
    Result.LAUNCH_OUT_OF_RESOURCES: "too many resources requested for launch",
    Result.LAUNCH_TIMEOUT: "the launch timed out and was terminated",
    Result.PRIMARY_CONTEXT_ACTIVE: "cannot set while device is active in this process",
    Result.CONTEXT_IS_DESTROYED: "context is destroyed",
    Result.ASSERT: "device-side assert triggered",
    Result.ILLEGAL_INSTRUCTION: "an illegal instruction was encountered",
    Result.MISALIGNED_ADDRESS: "misaligned address",
    Result.LAUNCH_FAILED: "unspecified launch failure",
    Result.NOT_PERMITTED: "operation not permitted",
    Result.NOT_SUPPORTED: "operation not supported",
    Result.STREAM_CAPTURE_UNSUPPORTED: "operation not permitted when stream is capturing",
    Result.STREAM_CAPTURE_INVALIDATED: "operation failed due to a previous error during capture",
    Result.STREAM_CAPTURE_MERGE: "operation would result in a merge of separate capture sequences",
    Result.STREAM_CAPTURE_UNMATCHED: "capture was not ended in the same stream as it began",
    Result.STREAM_CAPTURE_UNJOINED: "capturing stream has unjoined work",
    Result.STREAM_CAPTURE_ISOLATION: "dependency created on uncaptured work in another stream",
    Result.STREAM_CAPTURE_IMPLICIT: "operation would make the legacy stream depend on a capturing blocking stream",
    Result.CAPTURED_EVENT: "operation not permitted on an event last recorded in a capturing stream",
    Result.STREAM_CAPTURE_WRONG_THREAD: "attempt to terminate a thread-local capture sequence from another thread",
    Result.GRAPH_EXEC_UPDATE_FAILURE: (
        "the graph update was not performed because it included changes which violated constraints specific to "
        "instantiated graph update"
    ),
    Result.UNKNOWN: "unknown error",
}


class DriverError(Exception):
    """Ends a driver call with a result other than success; never leaves the emulator."""

    def __init__(self, result: Result, reason: str = "") -> None:
        super().__init__(f"{result.full_name}{f': {reason}' if reason else ''}")
        self.result = result
        self.reason = reason
