"""Explanations as plain data, for programs that read them.

Receives topics of a view; guarantees dictionaries, lists, texts and numbers, the same for the same topics.
"""

from collections.abc import Sequence
from typing import Any

from cgraph.view.captions import place_text
from cgraph.view.explaining.model import Table, Topic
from cgraph.view.model import View


def explanation_data(view: View, topics: Sequence[Topic]) -> list[dict[str, Any]]:
    """Topics as data: `title`, `facts`, `tables`, and `way`, the steps to the entry point, the innermost first.

    A table has a `heading`, `rows`, each a text for every column's name, and `more`, how many rows are left out.
    """
    return [
        {
            "title": topic.title,
            "facts": list(topic.facts),
            "tables": [_table(table) for table in topic.tables],
            "way": [{"at": place_text(view, step), "text": view.origins[step].text} for step in topic.way],
        }
        for topic in topics
    ]


def _table(table: Table) -> dict[str, Any]:
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {"heading": table.heading, "rows": rows, "more": table.more}
