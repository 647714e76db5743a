"""BERTScore against golden/expected/bertscore.json, by bert-score 0.3.13 in batches of one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.metrics.bertscore import bert_scores
from probing.lm.token_embeddings import load_token_encoder

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def golden(shared_dir):
    return json.loads((shared_dir / "golden" / "expected" / "bertscore.json").read_text())


@pytest.mark.parametrize("key", ["layers_1", "layers_1_idf", "layers_2", "layers_2_idf"])
def test_every_text_matches(golden, shared_dir, key):
    encoder = load_token_encoder(
        shared_dir / "golden" / "models" / "tiny-bert", layer=int(key.split("_")[1]), device="cpu"
    )
    found = bert_scores(
        golden["candidates"], golden["references"], encoder, idf=key.endswith("idf")
    )
    assert found.reasons == ("",) * len(golden["candidates"])
    for name, expected in golden["results"][key].items():
        np.testing.assert_allclose(
            getattr(found, name), expected, atol=golden["header"]["tolerance"]["abs"]
        )
