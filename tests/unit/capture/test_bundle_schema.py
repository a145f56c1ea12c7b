"""The schema describes real manifests, and nothing beside them; the page names every field."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import cgraph.capture
from cgraph.capture import container, json_text
from cgraph.capture.codec import fields, images, limits, shapes
from cgraph.capture.container import HEADER
from cgraph.capture.json_text import read_json
from cgraph.core.arithmetic import Operation
from cgraph.core.elements import Element
from cgraph.core.roles import AccessMode, Role
from cgraph.core.signatures import Relation, SlotKind
from cgraph.schedule.model import Order
from tools.fuzz.samples import write_samples

FOLDER = Path(cgraph.capture.__file__).parent
SCHEMA = json.loads((FOLDER / "bundle.schema.json").read_text(encoding="utf-8"))
PAGE = (FOLDER.parent / "docs" / "bundle.md").read_text(encoding="utf-8")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
MOST_ITEMS = 2  # of a list that are looked into


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    found = []
    for path in write_samples(tmp_path_factory.mktemp("samples")):
        data = path.read_bytes()
        size_bytes = HEADER.unpack_from(data)[2]
        found.append(read_json(data[HEADER.size : HEADER.size + size_bytes]))
    programs = [manifest for manifest in found if manifest["content"] == "program"]
    for manifest in programs:
        for source in manifest["graph"]["sources"]:
            source["text"] = ""  # long, and of one kind
    return programs


def containers(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every object and list of a manifest, of long lists the first few."""
    if isinstance(value, dict):
        yield way, value
        for key, inner in value.items():
            yield from containers(inner, (*way, key))
    elif isinstance(value, list):
        yield way, value
        for index, inner in enumerate(value[:MOST_ITEMS]):
            yield from containers(inner, (*way, index))


def at(manifest: dict[str, Any], way: tuple[Any, ...]) -> tuple[dict[str, Any], Any]:
    """A copy, and what stands there at a place."""
    changed = copy.deepcopy(manifest)
    place: Any = changed
    for step in way:
        place = place[step]
    return changed, place


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_real_manifests_are_valid(manifests: list[dict[str, Any]]) -> None:
    assert len(manifests) == 5
    for manifest in manifests:
        assert list(VALIDATOR.iter_errors(manifest)) == []


def test_a_key_more_or_less_is_not_valid(manifests: list[dict[str, Any]]) -> None:
    manifest = min(manifests, key=lambda manifest: len(json.dumps(manifest)))
    tried = 0
    for way, value in containers(manifest):
        if isinstance(value, dict):
            changed, place = at(manifest, way)
            place["surprise"] = 1
            assert not VALIDATOR.is_valid(changed), way
            for key in value:
                changed, place = at(manifest, way)
                del place[key]
                assert not VALIDATOR.is_valid(changed), (*way, key)
                tried += 1
    assert tried > 60


@pytest.mark.slow
def test_a_value_of_another_kind_is_not_valid(manifests: list[dict[str, Any]]) -> None:
    recording = {"device": "host", "outputs": "outputs", "digests": "digests"}
    tried = 0
    for manifest in sorted(manifests, key=lambda manifest: len(json.dumps(manifest)))[:4]:
        whole = {**manifest, "recording": recording}
        assert VALIDATOR.is_valid(whole)
        for way, value in containers(whole):
            for key in value if isinstance(value, dict) else range(min(len(value), MOST_ITEMS)):
                changed, place = at(whole, way)
                place[key] = {"surprise": 1}
                assert not VALIDATOR.is_valid(changed), (*way, key)
                tried += 1
    assert tried > 500


def names(place: str) -> list[str]:
    """What the schema lists at a place."""
    value: Any = SCHEMA["$defs"]
    for step in place.split("."):
        value = value[step]
    return sorted(value)


def test_the_words_are_those_of_the_code() -> None:
    bound = sorted(element.value for element in Element if element is not Element.HALF)
    assert names("element.enum") == bound
    assert names("access.enum") == sorted(mode.value for mode in AccessMode)
    assert names("slot.properties.kind.enum") == sorted(kind.value for kind in SlotKind)
    assert names("graph.properties.planes.properties.role.items.enum") == sorted(role.value for role in Role)
    assert sorted(SCHEMA["properties"]["schedule"]["properties"]["order"]["enum"]) == sorted(o.value for o in Order)
    operations = SCHEMA["$defs"]["atom"]["oneOf"][1]["prefixItems"][0]["enum"]
    assert sorted(operations) == sorted(operation.value for operation in Operation)
    relations = SCHEMA["$defs"]["image"]["properties"]["requirements"]["items"]["properties"]["relation"]["enum"]
    assert sorted(relations) == sorted(relation.value for relation in Relation)


def test_the_limits_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| ([^|`]+) \| ([\d,]+)[^|]*\|$", PAGE[PAGE.index("## Limits") :], re.MULTILINE)
    assert [int(number.replace(",", "")) for _, number in rows] == [
        json_text.MOST_BYTES // 2**20,
        container.MOST_BLOBS,
        fields.MOST_CHARACTERS,
        images.MOST_SLOTS,
        images.MOST_SIZES,
        shapes.MOST_EVALUATED_TERMS,
        limits.MOST_SCRATCH,
        limits.MOST_PIECES,
    ]
    assert f"nested {json_text.MOST_DEPTH} deep" in PAGE


def test_the_page_names_every_field() -> None:
    fields = set(re.findall(r'"(\w+)": \{', json.dumps(SCHEMA)))
    fields -= {"properties", "items", "recording", *SCHEMA["$defs"], "not"} - {"name", "file", "element", "access"}
    missing = {field for field in fields if f"`{field}`" not in PAGE}
    assert missing == set()
