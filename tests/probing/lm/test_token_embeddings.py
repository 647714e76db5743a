"""Embeddings of tokens from real small encoders of several families."""

from __future__ import annotations

import numpy as np
import pytest

from probing.lm.errors import ModelNotFoundError, WrongModelKindError
from probing.lm.token_embeddings import LayerError, default_layer, load_token_encoder

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def models(shared_dir):
    return shared_dir / "golden" / "models"


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-roberta"])
def test_every_layer_is_that_of_the_whole_model(models, model):
    """The hidden states that transformers returns of the model with all its layers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    whole = AutoModel.from_pretrained(models / model).eval()
    tokens = AutoTokenizer.from_pretrained(models / model)(" he be home", return_tensors="pt")
    with torch.inference_mode():
        states = whole(**tokens, output_hidden_states=True).hidden_states
    for layer in (0, 1, 2):
        (found,) = load_token_encoder(models / model, layer=layer, device="cpu").embed(
            ["he be home"]
        )
        np.testing.assert_array_equal(found.ids, tokens["input_ids"][0])
        np.testing.assert_allclose(found.vectors, states[layer][0], atol=1e-5)


@pytest.mark.parametrize("model", ["tiny-bert", "tiny-roberta", "tiny-t5"])
def test_neighbors_in_a_batch_change_nothing_that_matters(models, model):
    texts = ["he be home", "x", "they are kind and honest and they are late", "", "we good"]
    encoder = load_token_encoder(models / model, layer=2, device="cpu")
    small = load_token_encoder(models / model, layer=2, device="cpu", batch_tokens=1)
    for together, alone in zip(encoder.embed(texts), small.embed(texts), strict=True):
        np.testing.assert_array_equal(together.ids, alone.ids)
        np.testing.assert_allclose(together.vectors, alone.vectors, atol=1e-5)


def test_the_first_word_is_read_like_one_inside_a_sentence(models):
    # In byte-level BPE "home home" has two different first and second words without it.
    with_space, without = (
        load_token_encoder(models / "tiny-roberta", layer=1, device="cpu", leading_space=wanted)
        for wanted in (True, False)
    )
    (same,), (different,) = with_space.token_ids(["home home"]), without.token_ids(["home home"])
    inner = same[1:-1]
    assert inner[: len(inner) // 2].tolist() == inner[len(inner) // 2 :].tolist()
    assert same.tolist() != different.tolist()


def test_only_the_tokens_at_either_end_are_special(models):
    (found,) = load_token_encoder(models / "tiny-bert", layer=1, device="cpu").embed(["he be"])
    assert found.special.tolist() == [True, *[False] * (len(found.ids) - 2), True]


def test_a_long_text_is_reported_and_never_cut(models):
    encoder = load_token_encoder(models / "tiny-bert", layer=1, device="cpu")
    long, short = encoder.embed(["he " * 200, "he"])
    assert long.reason == f"longer than the {encoder.max_length} tokens that the encoder reads"
    assert len(long.ids) > encoder.max_length
    assert long.vectors.size == 0
    assert short.reason == ""
    assert len(short.vectors) == len(short.ids)


def test_no_texts_give_no_embeddings(models):
    assert load_token_encoder(models / "tiny-bert", layer=1, device="cpu").embed([]) == []


def test_an_encoder_names_its_files(models):
    encoder = load_token_encoder(models / "tiny-bert", layer=1, device="cpu")
    assert encoder.revision.startswith("sha256:")
    assert encoder.layer == 1


def test_the_recommended_layer_is_the_package_s():
    # Zhang et al.'s table, as printed in the package's README for this checkpoint.
    assert default_layer("microsoft/deberta-large-mnli") == 18
    with pytest.raises(LayerError, match="No layer is recommended for 'somebody/else'"):
        default_layer("somebody/else")


def test_layers_that_are_not_there_are_refused(models):
    with pytest.raises(LayerError, match="Choose one from 0 to 2"):
        load_token_encoder(models / "tiny-bert", layer=3, device="cpu")
    with pytest.raises(LayerError, match="No layer is recommended"):
        load_token_encoder(models / "tiny-bert", device="cpu")


def test_models_of_another_kind_are_refused(models, tmp_path):
    with pytest.raises(WrongModelKindError, match="causal"):
        load_token_encoder(models / "tiny-gpt2", layer=1, device="cpu")
    with pytest.raises(ModelNotFoundError):
        load_token_encoder(tmp_path / "nothing", layer=1)
