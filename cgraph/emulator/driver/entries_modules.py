"""Entry points about modules, libraries and their kernels.

The emulated device takes PTX text and nothing else. A kernel of a library (`CUkernel`) serves as a function in every
context.
"""

import ctypes as c
from pathlib import Path

from cgraph.emulator.driver.abi import (
    ADDRESS,
    HANDLE,
    OUT_HANDLE,
    OUT_SIZE,
    OUT_UINT,
    SIZE,
    TEXT,
    UINT,
    Needs,
    Table,
    maybe_out,
    write_handles,
)
from cgraph.emulator.driver.hardware import ImageRefused
from cgraph.emulator.driver.objects import Function, Library, Module
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver

TABLE = Table()

BINARY_MAGICS = (b"\x7fELF", b"\x50\xed\x55\xba")  # a cubin, a fat binary
MAGIC_BYTES = 4


def load_text(driver: Driver, text: str, module: Module) -> int:
    """Fills a module with the kernels of a text and gives its handle.

    Raises:
        DriverError: INVALID_IMAGE or INVALID_PTX.
    """
    if ".version" not in text:
        raise DriverError(Result.INVALID_IMAGE, "this is no PTX")
    try:
        kernels = driver.hardware.load(text)
    except ImageRefused as refused:
        raise DriverError(Result.INVALID_PTX, str(refused)) from refused
    for name, kernel in kernels.items():
        function = Function(name, kernel, module)
        driver.handles.add(function)
        module.functions[name] = function
    handle = driver.handles.add(module)
    if module.context is not None:
        module.context.owned.extend((module, *module.functions.values()))
    return handle


def _text_at(image: int) -> str:
    """The PTX at an address; it ends with a zero byte. Raises DriverError."""
    if image == 0:
        raise DriverError(Result.INVALID_VALUE, "the image is null")
    # Byte by byte: a text that is shorter than a magic number may be the last thing in its page.
    head = c.string_at(image)[:MAGIC_BYTES]
    if head in BINARY_MAGICS:
        raise DriverError(Result.NO_BINARY_FOR_GPU, "the emulated device takes PTX, no machine code")
    return c.string_at(image).decode("utf-8", "replace")


def _text_of(name: str) -> str:
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise DriverError(Result.FILE_NOT_FOUND, str(error)) from error
    if data[:MAGIC_BYTES] in BINARY_MAGICS:
        raise DriverError(Result.NO_BINARY_FOR_GPU, "the emulated device takes PTX, no machine code")
    return data.rstrip(b"\0").decode("utf-8", "replace")


def _unload(driver: Driver, module: Module) -> None:
    gone = (module, *module.functions.values())
    for thing in gone:
        driver.handles.remove(thing)
    if module.context is not None:
        owned = module.context.owned
        owned[:] = [thing for thing in owned if all(thing is not other for other in gone)]


def _module(driver: Driver, handle: int) -> Module:
    return driver.handles.get(Module, handle)


def _named(module: Module, name: str) -> int:
    if name not in module.functions:
        raise DriverError(Result.NOT_FOUND, f"the module has no kernel {name}")
    return module.functions[name].handle


def _enumerate(module: Module, array: int, count: int) -> None:
    if array == 0 or count == 0:
        raise DriverError(Result.INVALID_VALUE, "no room for kernels")
    handles = [function.handle for function in module.functions.values()]
    size = c.c_size_t(count)
    write_handles(array, c.addressof(size), handles[:count])


@TABLE.entry("cuModuleLoad", 2000, OUT_HANDLE, TEXT)
def module_load(driver: Driver, name: str) -> int:
    """From a file."""
    return load_text(driver, _text_of(name), Module(driver.current()))


@TABLE.entry("cuModuleLoadData", 2000, OUT_HANDLE, ADDRESS)
def module_load_data(driver: Driver, image: int) -> int:
    """From memory."""
    return load_text(driver, _text_at(image), Module(driver.current()))


@TABLE.entry("cuModuleLoadDataEx", 2010, OUT_HANDLE, ADDRESS, UINT, ADDRESS, ADDRESS)
def module_load_data_ex(driver: Driver, image: int, count: int, options: int, values: int) -> int:
    """From memory; options of the compiler have no meaning here."""
    if count and (options == 0 or values == 0):
        raise DriverError(Result.INVALID_VALUE, "options are null")
    return load_text(driver, _text_at(image), Module(driver.current()))


@TABLE.entry("cuModuleUnload", 2000, HANDLE)
def module_unload(driver: Driver, handle: int) -> None:
    """Its functions can no longer be named; graphs that hold one keep it."""
    module = _module(driver, handle)
    if isinstance(module, Library):
        raise DriverError(Result.NOT_PERMITTED, "a library's module goes with the library")
    _unload(driver, module)


@TABLE.entry("cuModuleGetLoadingMode", 11070, OUT_UINT, needs=Needs.DRIVER)
def module_get_loading_mode(_driver: Driver) -> int:
    """Eager."""
    return 1


@TABLE.entry("cuModuleGetFunction", 2000, OUT_HANDLE, HANDLE, TEXT)
def module_get_function(driver: Driver, handle: int, name: str) -> int:
    """By name."""
    return _named(_module(driver, handle), name)


@TABLE.entry("cuModuleGetFunctionCount", 12040, OUT_UINT, HANDLE)
def module_get_function_count(driver: Driver, handle: int) -> int:
    """How many there are."""
    return len(_module(driver, handle).functions)


@TABLE.entry("cuModuleEnumerateFunctions", 12040, ADDRESS, UINT, HANDLE)
def module_enumerate_functions(driver: Driver, array: int, count: int, handle: int) -> None:
    """As many as there is room for."""
    _enumerate(_module(driver, handle), array, count)


@TABLE.entry("cuModuleGetGlobal", 3020, maybe_out(c.c_uint64), maybe_out(c.c_size_t), HANDLE, TEXT)
def module_get_global(driver: Driver, handle: int, name: str) -> tuple[int, int]:
    """Module variables are not kept."""
    _module(driver, handle)
    raise DriverError(Result.NOT_FOUND, f"the module has no variable {name}")


@TABLE.entry(
    "cuLibraryLoadData", 12000, OUT_HANDLE, ADDRESS, ADDRESS, ADDRESS, UINT, ADDRESS, ADDRESS, UINT, needs=Needs.DRIVER
)
def library_load_data(driver: Driver, code: int, *_options: int) -> int:
    """From memory; options have no meaning here."""
    return load_text(driver, _text_at(code), Library(None))


@TABLE.entry(
    "cuLibraryLoadFromFile", 12000, OUT_HANDLE, TEXT, ADDRESS, ADDRESS, UINT, ADDRESS, ADDRESS, UINT, needs=Needs.DRIVER
)
def library_load_from_file(driver: Driver, name: str, *_options: int) -> int:
    """From a file."""
    return load_text(driver, _text_of(name), Library(None))


@TABLE.entry("cuLibraryUnload", 12000, HANDLE, needs=Needs.DRIVER)
def library_unload(driver: Driver, handle: int) -> None:
    """As `module_unload`."""
    _unload(driver, driver.handles.get(Library, handle))


@TABLE.entry("cuLibraryGetKernel", 12000, OUT_HANDLE, HANDLE, TEXT, needs=Needs.DRIVER)
def library_get_kernel(driver: Driver, handle: int, name: str) -> int:
    """By name."""
    return _named(driver.handles.get(Library, handle), name)


@TABLE.entry("cuLibraryGetKernelCount", 12040, OUT_UINT, HANDLE, needs=Needs.DRIVER)
def library_get_kernel_count(driver: Driver, handle: int) -> int:
    """How many there are."""
    return len(driver.handles.get(Library, handle).functions)


@TABLE.entry("cuLibraryEnumerateKernels", 12040, ADDRESS, UINT, HANDLE, needs=Needs.DRIVER)
def library_enumerate_kernels(driver: Driver, array: int, count: int, handle: int) -> None:
    """As many as there is room for."""
    _enumerate(driver.handles.get(Library, handle), array, count)


@TABLE.entry("cuLibraryGetModule", 12000, OUT_HANDLE, HANDLE)
def library_get_module(driver: Driver, handle: int) -> int:
    """A library is its own module."""
    return driver.handles.get(Library, handle).handle


@TABLE.entry("cuKernelGetFunction", 12000, OUT_HANDLE, HANDLE)
def kernel_get_function(driver: Driver, handle: int) -> int:
    """A kernel is its own function."""
    return driver.handles.get(Function, handle).handle


@TABLE.entry("cuKernelGetLibrary", 12050, OUT_HANDLE, HANDLE, needs=Needs.DRIVER)
@TABLE.entry("cuFuncGetModule", 11000, OUT_HANDLE, HANDLE)
def function_get_module(driver: Driver, handle: int) -> int:
    """What it was loaded with."""
    return driver.handles.get(Function, handle).module.handle


@TABLE.entry("cuKernelGetName", 12030, OUT_HANDLE, HANDLE, needs=Needs.DRIVER)
@TABLE.entry("cuFuncGetName", 12030, OUT_HANDLE, HANDLE)
def function_get_name(driver: Driver, handle: int) -> int:
    """As it stands in the PTX."""
    return driver.text(driver.handles.get(Function, handle).name)


@TABLE.entry("cuKernelGetParamInfo", 12040, HANDLE, SIZE, OUT_SIZE, maybe_out(c.c_size_t), needs=Needs.DRIVER)
@TABLE.entry("cuFuncGetParamInfo", 12040, HANDLE, SIZE, OUT_SIZE, maybe_out(c.c_size_t))
def function_get_param_info(driver: Driver, handle: int, index: int) -> tuple[int, int]:
    """Offset and size in bytes; an index past the last parameter is an error, by which a caller counts them."""
    parameters = driver.handles.get(Function, handle).kernel.parameters
    if index >= len(parameters):
        raise DriverError(Result.INVALID_VALUE, f"there is no parameter {index}")
    return parameters[index].offset, parameters[index].size_bytes


@TABLE.entry("cuKernelGetParamCount", 13020, HANDLE, OUT_SIZE, needs=Needs.DRIVER)
@TABLE.entry("cuFuncGetParamCount", 13020, HANDLE, OUT_SIZE)
def function_get_param_count(driver: Driver, handle: int) -> int:
    """How many there are."""
    return len(driver.handles.get(Function, handle).kernel.parameters)


@TABLE.entry("cuFuncIsLoaded", 12040, OUT_UINT, HANDLE)
def function_is_loaded(driver: Driver, handle: int) -> int:
    """Always."""
    driver.handles.get(Function, handle)
    return 1


@TABLE.entry("cuFuncLoad", 12040, HANDLE)
def function_load(driver: Driver, handle: int) -> None:
    """It is loaded already."""
    driver.handles.get(Function, handle)
