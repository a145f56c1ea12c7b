"""Text to tokens, tokens to batches, draws: by hand, by Python's string functions, by laws of random numbers."""

from pathlib import Path

import numpy as np
import pytest

from cgraph.diagnostics import ProblemsFound
from cgraph.models.training.batches import evaluation_batches, training_batch
from cgraph.models.training.draws import Purpose, uniform
from cgraph.models.training.texts import encode_prompt, read_text, split, tokenise
from cgraph.models.training.tokenisers import Tokeniser, make_tokeniser

MIXED = "naïve Δx ≠ 0\n日本 🎈\t\r\n"


def codes_of(stopped: ProblemsFound) -> list[str]:
    return [problem.code for problem in stopped.problems]


def files(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"{index}.txt" for index in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def test_bytes_are_their_own_tokens() -> None:
    tokeniser = make_tokeniser("bytes", b"")
    text = bytes(range(256))
    assert (tokeniser.size, tokeniser.kind, tokeniser.token_name) == (256, "bytes", "byte")
    assert tokeniser.encode(text).tolist() == list(range(256))
    assert tokeniser.decode(tokeniser.encode(MIXED.encode())) == MIXED
    assert tokeniser.decode(np.array([0x61, 0xFF, 0x62])) == "a\ufffdb"


def test_characters_are_numbered_in_their_order() -> None:
    tokeniser = make_tokeniser("characters", MIXED.encode())
    expected = sorted(set(MIXED))
    assert tokeniser.characters == "".join(expected)
    assert tokeniser.size == len(expected)
    tokens = tokeniser.encode(MIXED.encode())
    assert tokens.tolist() == [expected.index(character) for character in MIXED]
    assert tokens.dtype == np.int32
    assert tokeniser.decode(tokens) == MIXED


def test_a_character_without_a_token_is_named() -> None:
    tokeniser = make_tokeniser("characters", b"abc")
    with pytest.raises(KeyError, match="z"):
        tokeniser.encode(b"abzq")
    with pytest.raises(ProblemsFound) as stopped:
        encode_prompt(tokeniser, "a\u00e9", np.zeros(1, np.int32))
    assert codes_of(stopped.value) == ["CG783"]
    assert "'é'" in stopped.value.problems[0].render_title()


@pytest.mark.parametrize("characters", ["ba", "aa", "", "a\ud800", 3])
def test_a_tokeniser_that_nobody_made_is_refused(characters: object) -> None:
    with pytest.raises(ValueError, match=r"tokeniser|surrogates"):
        Tokeniser(characters)  # type: ignore[arg-type]  # what a changed file may hold


def test_without_a_prompt_a_sample_begins_with_a_line_end_or_the_texts_beginning() -> None:
    tokens = np.array([7, 8])
    assert encode_prompt(Tokeniser(None), "", tokens).tolist() == [10]
    assert encode_prompt(Tokeniser("\nab"), "", tokens).tolist() == [0]
    assert encode_prompt(Tokeniser("ab"), "", tokens).tolist() == [7]
    assert encode_prompt(Tokeniser(None), "hé", tokens).tolist() == [104, 0xC3, 0xA9]


def test_files_follow_each_other(tmp_path: Path) -> None:
    text = read_text(files(tmp_path, b"ab\r\n", b"", b"cd"))
    assert text.content == b"ab\r\ncd"
    assert text.ends == (4, 4, 6)


def test_files_that_cannot_be_read_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        read_text([tmp_path / "missing", tmp_path, *files(tmp_path, b"text"), Path("a\0b")])
    assert codes_of(stopped.value) == ["CG780", "CG780", "CG780"]


def test_empty_files_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        read_text(files(tmp_path, b"", b""))
    assert codes_of(stopped.value) == ["CG782"]


def test_what_is_not_utf8_is_found_in_its_file(tmp_path: Path) -> None:
    text = read_text(files(tmp_path, b"abc", b"de\xfff"))
    assert tokenise(text, "bytes")[1].tolist() == [*b"abcde", 255, ord("f")]
    with pytest.raises(ProblemsFound) as stopped:
        tokenise(text, "characters")
    assert codes_of(stopped.value) == ["CG781"]
    assert "1.txt` is not UTF-8: byte 2" in stopped.value.problems[0].render_title()
    with pytest.raises(ProblemsFound) as stopped:
        tokenise(read_text(files(tmp_path, b"xyz")), "characters", Tokeniser("xy"))
    assert codes_of(stopped.value) == ["CG783"]


def test_the_end_of_the_text_is_for_evaluation() -> None:
    corpus = split(np.arange(100), 0.25, 9)
    assert corpus.trained.tolist() == list(range(75))
    assert corpus.evaluated.tolist() == list(range(75, 100))
    assert len(split(np.arange(11), 0.0, 10).evaluated) == 0


@pytest.mark.parametrize(
    ("tokens", "share", "parts"),
    [
        (10, 0.0, ["training"]),
        (100, 0.05, ["evaluation"]),
        (20, 0.9, ["training"]),
        (4, 0.5, ["training", "evaluation"]),
    ],
)
def test_a_part_that_is_too_short_is_named(tokens: int, share: float, parts: list[str]) -> None:
    with pytest.raises(ProblemsFound) as stopped:
        split(np.arange(tokens), share, 10)
    assert codes_of(stopped.value) == ["CG784"] * len(parts)
    for problem, part in zip(stopped.value.problems, parts, strict=True):
        assert f"tokens for {part}, a sequence needs 11" in problem.render_title()


def test_a_batch_is_sequences_with_the_tokens_after_them() -> None:
    tokens = np.arange(1000, dtype=np.int32) * 3
    ids, targets = training_batch(tokens, (4, 7, 5), seed=1, step=2)
    assert ids.shape == targets.shape == (4, 7, 5)
    assert ids.dtype == targets.dtype == np.int32
    assert ids.flags.c_contiguous
    assert np.array_equal(targets, ids + 3)
    assert (np.diff(ids, axis=1) == 3).all()
    assert len(np.unique(ids[:, 0])) > 15  # places differ


def test_a_batch_follows_from_seed_and_step_alone() -> None:
    tokens = np.arange(10_000)
    batches = {
        (seed, step): training_batch(tokens, (1, 3, 4), seed, step)[0].tobytes()
        for seed in (0, 1)
        for step in range(50)
    }
    assert len(set(batches.values())) == 100
    assert training_batch(tokens, (1, 3, 4), 1, 30)[0].tobytes() == batches[1, 30]


def test_every_place_is_drawn_and_none_beyond_the_end() -> None:
    seen = {int(start) for step in range(200) for start in training_batch(np.arange(12), (1, 4, 8), 3, step)[0][0, 0]}
    assert seen == set(range(8))  # the last sequence begins at 7, its last target is token 11


def test_a_text_of_one_sequence() -> None:
    ids, targets = training_batch(np.arange(5), (1, 4, 2), 0, 0)
    assert ids[0].T.tolist() == [[0, 1, 2, 3]] * 2
    assert targets[0].T.tolist() == [[1, 2, 3, 4]] * 2


def test_evaluation_lies_evenly_over_its_tokens() -> None:
    batches = evaluation_batches(np.arange(101), seq=10, batch=2, count=5)
    assert len(batches) == 5
    starts = [int(start) for ids, _ in batches for start in ids[0]]
    assert starts == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert int(batches[-1][1].max()) == 100


def test_draws_are_uniform_and_of_their_own_stream() -> None:
    drawn = uniform(5, Purpose.BATCH, 9, 100_000)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts, _ = np.histogram(drawn, 10, (0, 1))
    # 6 standard deviations of a count of 100,000 draws with probability 0.1.
    assert np.abs(counts - 10_000).max() < 6 * np.sqrt(100_000 * 0.1 * 0.9)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.02
    others = (uniform(5, Purpose.SAMPLE, 9, 4), uniform(6, Purpose.BATCH, 9, 4), uniform(5, Purpose.BATCH, 10, 4))
    assert len({values.tobytes() for values in (drawn[:4], *others)}) == 4


def test_a_stream_does_not_run_into_the_next_one() -> None:
    long = uniform(0, Purpose.BATCH, 0, 5000)
    assert not np.isin(uniform(0, Purpose.BATCH, 1, 8), long).any()
