"""Linear layers with packed weights give PyTorch's own products."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from probing.lm import load_masked, load_text_model
from probing.lm.packed_layers import PackedLinear, pack_linear_layers, pack_where_alike
from probing.lm.protocols import SlotContext


@pytest.fixture(autouse=True)
def where_packing_serves() -> None:
    if pack_linear_layers(nn.Sequential(nn.Linear(2, 2))) == 0:
        pytest.skip("this processor or build of PyTorch has no packed products")


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 7, 64, 600])
def test_products_are_those_of_the_layer(rows: int, bias: bool) -> None:
    torch.manual_seed(rows)
    layer = nn.Linear(96, 160, bias=bias)
    values = torch.randn(rows, 96)
    with torch.inference_mode():
        wanted = layer.double()(values.double())
        found = PackedLinear(layer.float().weight, layer.bias)(values)
        in_three = PackedLinear(layer.weight, layer.bias)(values.reshape(rows, 1, 96))
    assert torch.allclose(found.double(), wanted, rtol=1e-5, atol=1e-5)
    assert in_three.shape == (rows, 1, 160)


def test_layers_at_any_depth_are_packed_and_others_are_not() -> None:
    class Twice(nn.Linear):
        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(values)

    body = nn.Sequential(nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 4)]), Twice(4, 4))
    body.append(nn.Linear(4, 4).double())
    assert pack_linear_layers(body) == 2
    assert isinstance(body[0], PackedLinear)
    assert type(body[2]) is Twice
    assert type(body[3]) is nn.Linear


@pytest.mark.shared
@pytest.mark.parametrize("family", ["tiny-bert", "tiny-roberta"])
def test_a_packed_model_says_what_the_same_model_says_in_double(
    checkpoints: Path, family: str
) -> None:
    folder = checkpoints / family
    contexts = [SlotContext("That woman is ", "."), SlotContext("All old people are ", ".")]
    packed, exact = load_masked(folder), load_masked(folder, dtype="float64")
    assert any(isinstance(module, PackedLinear) for module in packed._body.modules())
    assert not any(isinstance(module, PackedLinear) for module in exact._body.modules())
    found = packed.word_logprobs(contexts, ["warm", "cold"])
    assert found == pytest.approx(exact.word_logprobs(contexts, ["warm", "cold"]), rel=1e-4)


@pytest.mark.shared
@pytest.mark.parametrize("family", ["tiny-gpt2", "tiny-t5"])
def test_packed_models_of_texts_say_what_they_say_in_double(checkpoints: Path, family: str) -> None:
    folder = checkpoints / family
    packed, exact = load_text_model(folder), load_text_model(folder, dtype="float64")
    layers = [module for module in packed.network.modules() if isinstance(module, PackedLinear)]
    assert layers
    assert packed.network.get_output_embeddings() not in layers
    texts = ["The woman is warm.", "All old people are cold and slow."]
    for found, wanted in zip(
        packed.token_logprobs(texts), exact.token_logprobs(texts), strict=True
    ):
        assert found == pytest.approx(wanted, abs=1e-5)


class Family(nn.Module):
    """A model of which one layer, as in some families, is no plain product."""

    def __init__(self) -> None:
        super().__init__()
        self.plain, self.own, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 9)

    def get_output_embeddings(self) -> nn.Linear:
        return self.head

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.plain(values) @ self.own.weight.T)
        return found


def test_a_family_that_computes_with_its_weights_keeps_them() -> None:
    model, values = Family(), torch.randn(3, 4)
    weights = model.plain.weight.clone()
    wanted = model(values)
    assert pack_where_alike(model, lambda: model(values)) == 0
    assert type(model.plain) is nn.Linear
    assert torch.equal(model.plain.weight, weights)
    assert torch.equal(model(values), wanted)


def test_a_layer_in_two_places_stays_one() -> None:
    layer = nn.Linear(4, 4)
    body = nn.ModuleDict({"one": layer, "other": layer})
    assert pack_linear_layers(body) == 2
    assert body["one"] is body["other"]
