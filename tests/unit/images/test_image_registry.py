import inspect
import re

import pytest

from cgraph.images.registry import find_meaning, keyword_of, meaning
from cgraph.resources import programs_directory

IMAGE = re.compile(r'image \w+ = kernel "([^"]+)" "([^"]+)" \{(.*?)\n\}', re.DOTALL)
SLOT = re.compile(r"^\s*slot \d+ ([\w']+) :", re.MULTILINE)
CONSTANT = re.compile(r"^\s*constant (\w+) =", re.MULTILINE)
LIBRARY = [
    found
    for name in ("images.cg", "model_images.cg", "geglu_images.cg", "optimizer_images.cg")
    for found in IMAGE.findall((programs_directory() / "library" / name).read_text(encoding="utf-8"))
]


def test_a_kernel_without_meaning_is_not_found() -> None:
    assert find_meaning("product.cu", "cgNoSuchKernel") is None
    assert find_meaning("elsewhere.cu", "cgProductData") is None


def test_a_second_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cgAdd of elementwise\.cu has a meaning already"):
        meaning("elementwise.cu", "cgAdd")(lambda: None)


@pytest.mark.parametrize(
    ("name", "keyword"),
    [
        ("out", "out"),
        ("in", "in_"),
        ("outT", "out_t"),
        ("dGated", "d_gated"),
        ("upGradientHalf", "up_gradient_half"),
        ("CG_HEAD_WIDTH", "cg_head_width"),
        ("lambda", "lambda_"),
    ],
)
def test_keywords_are_snake_case(name: str, keyword: str) -> None:
    assert keyword_of(name) == keyword


def test_the_library_declares_images() -> None:
    assert len(LIBRARY) >= 36


@pytest.mark.parametrize(("file", "entry", "body"), LIBRARY, ids=[entry for _file, entry, _body in LIBRARY])
def test_every_library_image_has_a_meaning_that_asks_only_for_its_slots(file: str, entry: str, body: str) -> None:
    function = find_meaning(file, entry)
    assert function is not None
    given = {keyword_of(name) for name in SLOT.findall(body) + CONSTANT.findall(body)}
    asked = {
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert asked <= given
    pointers = {keyword_of(name) for name in re.findall(r"slot \d+ ([\w']+) : (?:read|write|accumulate)", body)}
    assert pointers <= asked
