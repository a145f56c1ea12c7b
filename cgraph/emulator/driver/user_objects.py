"""Objects of the program that must outlive graphs, and who counts on them: the program, graphs, executable graphs.

Guarantees that an object's destructor is called once, when its last reference is gone. On a device that happens on a
thread of the driver's; here it happens in the call that gives the last reference back.
"""

import ctypes as c
from collections import Counter
from collections.abc import Callable
from functools import partial

from attrs import define

from cgraph.emulator.driver.objects import Handles

DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)


@define(eq=False)
class UserObject:
    """An object.

    Args:
        destroy: called with nothing when the last reference is gone.
        own: how many references the program has; all: those of graphs, too.
    """

    destroy: Callable[[], object]
    own: int
    all: int
    handle: int = 0

    def drop(self, handles: Handles, count: int) -> None:
        """Takes references away; with the last one the object ends."""
        self.all -= count
        if self.all == 0:
            handles.remove(self)
            self.destroy()


def made_of(address: int, destructor: int, count: int) -> UserObject:
    """An object with so many references of the program's; `destructor` is a C function that takes `address`."""
    return UserObject(partial(DESTRUCTOR(destructor), address), count, count)


def share(objects: Counter[UserObject]) -> Counter[UserObject]:
    """The references of a copy of a graph."""
    for thing, count in objects.items():
        thing.all += count
    return Counter(objects)


def release_all(handles: Handles, objects: Counter[UserObject]) -> None:
    """Gives all references of a graph back."""
    released = list(objects.items())
    objects.clear()
    for thing, count in released:
        thing.drop(handles, count)
