"""Entry points about user objects: what a program wants to outlive its graphs."""

from cgraph.emulator.driver.abi import ADDRESS, HANDLE, OUT_HANDLE, UINT, Needs, Table
from cgraph.emulator.driver.graphs import graph_of
from cgraph.emulator.driver.results import DriverError, Result
from cgraph.emulator.driver.state import Driver
from cgraph.emulator.driver.user_objects import UserObject, made_of

TABLE = Table()

NO_DESTRUCTOR_SYNC, MOVE = 1, 1  # CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CU_GRAPH_USER_OBJECT_MOVE
MOST_REFERENCES = 2**31 - 1


def _object(driver: Driver, handle: int, count: int) -> UserObject:
    if not 0 < count <= MOST_REFERENCES:
        raise DriverError(Result.INVALID_VALUE, f"{count} references")
    return driver.handles.get(UserObject, handle, Result.INVALID_VALUE)


@TABLE.entry("cuUserObjectCreate", 11030, OUT_HANDLE, ADDRESS, ADDRESS, UINT, UINT, needs=Needs.DRIVER)
def user_object_create(driver: Driver, address: int, destructor: int, count: int, flags: int) -> int:
    """The only flag is required: nobody can wait for the destructor."""
    if destructor == 0 or flags != NO_DESTRUCTOR_SYNC or not 0 < count <= MOST_REFERENCES:
        raise DriverError(Result.INVALID_VALUE, f"flags {flags}, {count} references")
    return driver.handles.add(made_of(address, destructor, count))


@TABLE.entry("cuUserObjectRetain", 11030, HANDLE, UINT, needs=Needs.DRIVER)
def user_object_retain(driver: Driver, handle: int, count: int) -> None:
    """More references of the program's."""
    thing = _object(driver, handle, count)
    thing.own += count
    thing.all += count


@TABLE.entry("cuUserObjectRelease", 11030, HANDLE, UINT, needs=Needs.DRIVER)
def user_object_release(driver: Driver, handle: int, count: int) -> None:
    """Fewer of them."""
    thing = _object(driver, handle, count)
    if count > thing.own:
        raise DriverError(Result.INVALID_VALUE, f"the program has {thing.own} references")
    thing.own -= count
    thing.drop(driver.handles, count)


@TABLE.entry("cuGraphRetainUserObject", 11030, HANDLE, HANDLE, UINT, UINT, needs=Needs.DRIVER)
def graph_retain_user_object(driver: Driver, graph: int, handle: int, count: int, flags: int) -> None:
    """References of a graph's: new ones, or moved from the program's."""
    thing, owner = _object(driver, handle, count), graph_of(driver, graph)
    if flags not in (0, MOVE) or (flags == MOVE and count > thing.own):
        raise DriverError(Result.INVALID_VALUE, f"flags {flags}, the program has {thing.own} references")
    if flags == MOVE:
        thing.own -= count
    else:
        thing.all += count
    owner.user_objects[thing] += count


@TABLE.entry("cuGraphReleaseUserObject", 11030, HANDLE, HANDLE, UINT, needs=Needs.DRIVER)
def graph_release_user_object(driver: Driver, graph: int, handle: int, count: int) -> None:
    """Fewer references of a graph's."""
    thing, owner = _object(driver, handle, count), graph_of(driver, graph)
    if count > owner.user_objects[thing]:
        raise DriverError(Result.INVALID_VALUE, f"the graph has {owner.user_objects[thing]} references")
    owner.user_objects[thing] -= count
    thing.drop(driver.handles, count)
