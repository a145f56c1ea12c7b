"""One command of a dump: what its label says."""

from attrs import frozen

from cgraph.view.dumps.launches import Launch
from cgraph.view.model import NodeKind


@frozen
class Transfer:
    """Bytes that a copy or a memset moves, and where; None where the label does not say it.

    Args:
        source, destination: addresses, as numbers.
        moved_bytes: in all. source_span_bytes, destination_span_bytes: from the first byte to behind the last one.
    """

    source: int | None = None
    destination: int | None = None
    moved_bytes: int | None = None
    source_span_bytes: int | None = None
    destination_span_bytes: int | None = None


@frozen
class Command:
    """What a label says.

    Args:
        kind: of a node of a view.
        label: a few words without addresses, so that dumps of two runs can be compared.
        launch: of a kernel. transfer: of a copy or a memset.
        address: that is allocated or freed. size_bytes: that are allocated.
        graphs: names of the graphs that it runs, each with what chooses it ("" for the only one).
        details: all other facts. flags: what a reader should notice.
        doubt: why the label is not understood, None where it is.
    """

    kind: NodeKind
    label: str
    launch: Launch | None = None
    transfer: Transfer | None = None
    address: int | None = None
    size_bytes: int | None = None
    graphs: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    doubt: str | None = None
