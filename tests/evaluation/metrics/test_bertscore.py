"""BERTScore: arithmetic by hand on vectors made for it, and bert-score itself on real encoders."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

from evaluation.metrics.bertscore import bert_scores, bert_similarity
from evaluation.metrics.undefined import UndefinedReason

VECTORS = {
    "<": (5.0, 5.0),
    ">": (5.0, -5.0),
    "a": (1.0, 0.0),
    "b": (0.0, 2.0),
    "c": (3.0, 4.0),
    "z": (-1.0, 0.0),
}
NUMBERS = {symbol: i for i, symbol in enumerate(VECTORS)}


@dataclass(frozen=True)
class Text:
    ids: np.ndarray
    vectors: np.ndarray
    special: np.ndarray
    reason: str = ""


class LetterEncoder:
    """Every letter is a token with a fixed vector; `ends` puts a special token at either end."""

    def __init__(self, ends=False, longest=99):
        self.ends, self.longest, self.embedded = ends, longest, []

    def _symbols(self, text):
        return f"<{text}>" if self.ends else text

    def token_ids(self, texts):
        return [np.array([NUMBERS[s] for s in self._symbols(t)], dtype=np.int64) for t in texts]

    def embed(self, texts):
        self.embedded += texts
        return [
            Text(
                ids,
                np.array([VECTORS[s] for s in self._symbols(text)]).reshape(-1, 2),
                np.isin(ids, [0, 1]),
                "too long" if len(ids) > self.longest else "",
            )
            for text, ids in zip(texts, self.token_ids(texts), strict=True)
        ]


def test_by_hand():
    # Cosines: a·c = 0.6, b·c = 0.8. Candidate a b against c: P = (0.6 + 0.8)/2, R = 0.8.
    found = bert_scores(["ab"], ["c"], LetterEncoder())
    assert (found.precision[0], found.recall[0]) == pytest.approx((0.7, 0.8))
    assert found.f[0] == pytest.approx(2 * 0.7 * 0.8 / 1.5)


def test_special_tokens_are_matched_but_weigh_nothing():
    # "<" points halfway between a and b: cosine √½ with both, and a token of z's best match is
    # ">" or "<" at −√½ rather than a at −1.
    found = bert_scores(["z"], ["a"], LetterEncoder(ends=True))
    assert found.precision[0] == pytest.approx(-np.sqrt(0.5))


def test_idf_is_taken_over_the_references():
    # N = 2; a is in both references: ln(3/3) = 0; b in one: ln(3/2); c in none: ln 3.
    found = bert_scores(["abc", "a"], ["ab", "ac"], LetterEncoder(), idf=True)
    a, b, c = 0, np.log(3 / 2), np.log(3 / 2)
    # Candidate a b c against a b: best matches 1, 1 and max(0.6, 0.8).
    assert found.precision[0] == pytest.approx((a + b + 0.8 * c) / (a + b + c))
    # The candidate "a" has no weight at all.
    assert found.reasons[1] == "the counterpart has no token that counts"
    assert np.isnan(found.f[1])


def test_rescaling_is_linear():
    plain = bert_scores(["ab"], ["c"], LetterEncoder())
    scaled = bert_scores(["ab"], ["c"], LetterEncoder(), baseline=(0.5, 0.6, 0.2))
    assert scaled.precision[0] == pytest.approx((0.7 - 0.5) / 0.5)
    assert scaled.recall[0] == pytest.approx((0.8 - 0.6) / 0.4)
    assert scaled.f[0] == pytest.approx((plain.f[0] - 0.2) / 0.8)


def test_padding_enters_only_where_it_is_asked_for():
    # z against a: cosine −1. With padding the shorter text of a batch matches nothing at 0.
    texts = ["z", "zb"], ["a", "ab"]
    plain = bert_scores(*texts, LetterEncoder())
    padded = bert_scores(*texts, LetterEncoder(), released_padding=2)
    alone = bert_scores(*texts, LetterEncoder(), released_padding=1)
    assert (plain.precision[0], padded.precision[0]) == pytest.approx((-1, 0))
    np.testing.assert_array_equal(plain.f, alone.f)
    assert padded.reasons[0] == UndefinedReason.NO_HARMONIC_MEAN


def test_texts_without_tokens_and_long_ones_have_no_score_and_a_reason():
    found = bert_scores(["", "abc", "a"], ["a", "a", "abc"], LetterEncoder(longest=2))
    assert np.isnan(found.f).all()
    assert found.reasons == (
        "the counterpart has no token that counts",
        "the counterpart is too long",
        "the reference is too long",
    )


def test_scores_do_not_depend_on_order_and_a_text_is_embedded_once():
    candidates, references = ["a", "b", "ab", "ac"] * 20, ["c", "ab", "c", "bc"] * 20
    encoder = LetterEncoder()
    found = bert_scores(candidates, references, encoder)
    assert len(encoder.embedded) == len(set(encoder.embedded))
    backwards = bert_scores(candidates[::-1], references[::-1], LetterEncoder())
    np.testing.assert_array_equal(found.f, backwards.f[::-1])


def test_similarity_returns_f_with_reasons():
    values, reasons = bert_similarity(LetterEncoder())(["ab", ""], ["c", "c"])
    assert values[0] == pytest.approx(2 * 0.7 * 0.8 / 1.5)
    assert reasons[0] == ""
    assert reasons[1]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="1 candidates and 2 references"):
        bert_scores(["a"], ["a", "b"], LetterEncoder())
    with pytest.raises(ValueError, match="below 1"):
        bert_scores(["a"], ["a"], LetterEncoder(), baseline=(1, 0, 0))
    with pytest.raises(ValueError, match="at least one"):
        bert_scores(["a"], ["a"], LetterEncoder(), released_padding=0)


@pytest.mark.shared
@pytest.mark.parametrize("model", ["tiny-bert", "tiny-roberta", "tiny-t5"])
@pytest.mark.parametrize("batch_size", [1, 5])
def test_equal_to_the_package_on_real_encoders(shared_dir, model, batch_size):
    """The package itself, with its padding; its batches of one have none."""
    from bert_score import BERTScorer

    from probing.lm.token_embeddings import load_token_encoder

    folder = shared_dir / "golden" / "models" / model
    candidates = ["he be workin late", "she gone", "They are kind and honest.", "we good", "x"] * 2
    references = ["he is working late", "she has no time", "They are cold.", "zebra", "y z"] * 2
    references[7] = "it is what it is and nothing else"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scorer = BERTScorer(
            model_type=str(folder), num_layers=2, batch_size=batch_size, device="cpu"
        )
        expected = [part.numpy() for part in scorer.score(candidates, references)]
    encoder = load_token_encoder(folder, layer=2, device="cpu", leading_space=False)
    found = bert_scores(
        candidates,
        references,
        encoder,
        released_padding=None if batch_size == 1 else batch_size,
    )
    for name, part in zip(("precision", "recall", "f"), expected, strict=True):
        np.testing.assert_allclose(getattr(found, name), part, atol=5e-6)
