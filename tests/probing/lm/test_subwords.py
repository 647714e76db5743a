"""How words are cut, and how slots are opened."""

from __future__ import annotations

import numpy as np
import pytest

from probing.lm import ContextTooLongError, MaskCountError, SlotContext, UnknownWordError
from probing.lm.masked import MaskedLanguageModel
from probing.lm.slot_tokenizers import detect_scheme, token_classes


def test_the_scheme_is_told_by_the_most_frequent_marker() -> None:
    assert detect_scheme(["a", "##b", "##c", "Ġ"]) == "wordpiece"
    assert detect_scheme(["Ġa", "Ġb", "c", "##"]) == "byte-level"
    assert detect_scheme(["▁a", "▁b", "c"]) == "sentencepiece"
    assert detect_scheme(["only", "whole", "words"]) == "wordpiece"


def test_classes_follow_the_markers_and_leave_out_unused_rows() -> None:
    """By the definition in the method specification, section 1; row 4 has no token."""
    initial, continuation = token_classes({"[CLS]": 0, "low": 1, "##er": 2, "-": 3}, "wordpiece", 5)
    assert initial.tolist() == [True, True, False, True, False]
    assert continuation.tolist() == [False, False, True, False, False]
    initial, continuation = token_classes({"<s>": 0, "Ġlow": 1, "er": 2, "-": 3}, "byte-level", 5)
    assert initial.tolist() == [False, True, False, False, False]
    assert continuation.tolist() == [True, False, True, True, False]


def test_byte_level_words_are_read_with_their_leading_space(
    tiny_roberta: MaskedLanguageModel,
) -> None:
    assert tiny_roberta.split("poor").tokens == ("Ġpoor",)
    # Inside a sentence the tokenizer itself must come to the same tokens.
    whole = tiny_roberta.encode("That man is unconfident.")
    pieces = tiny_roberta.split("unconfident").ids
    assert any(whole[i : i + len(pieces)] == pieces for i in range(len(whole)))


def test_wordpiece_words_are_read_without_a_space(tiny_bert: MaskedLanguageModel) -> None:
    assert tiny_bert.split("poor").tokens == ("poor",)
    whole = tiny_bert.encode("That man is unconfident.")
    pieces = tiny_bert.split("unconfident").ids
    assert any(whole[i : i + len(pieces)] == pieces for i in range(len(whole)))


@pytest.mark.parametrize("word", ["☃", "śmiały", "kind ☃", "[MASK]"])
def test_a_word_that_cannot_be_encoded_is_named(tiny_bert: MaskedLanguageModel, word: str) -> None:
    with pytest.raises(UnknownWordError) as raised:
        tiny_bert.split(word)
    assert f"'{word}'" in str(raised.value)
    assert "Replace the adjective" in str(raised.value)


@pytest.mark.parametrize("word", ["", "   "])
def test_an_empty_word_is_refused(tiny_model: MaskedLanguageModel, word: str) -> None:
    with pytest.raises(UnknownWordError, match="empty"):
        tiny_model.split(word)


@pytest.mark.parametrize("masks", [1, 2, 5])
def test_the_slot_is_found_beside_a_masked_group(
    tiny_model: MaskedLanguageModel, masks: int
) -> None:
    mask = tiny_model.mask_token
    group_first = SlotContext(f"That {mask} is ", ".", masks_before=1)
    trait_first = SlotContext("The ", f" people are {mask}.", masks_after=1)
    mask_id = tiny_model.tokenizer.mask_id
    for context, place in ((group_first, 1), (trait_first, 0)):
        ids, first = tiny_model.encode_slot(context, masks)
        found = np.flatnonzero(np.array(ids) == mask_id)
        assert len(found) == masks + 1
        assert first == found[place]


def test_a_mask_token_that_came_with_a_text_is_noticed(tiny_model: MaskedLanguageModel) -> None:
    context = SlotContext(f"That {tiny_model.mask_token} person is ", ".")
    with pytest.raises(MaskCountError) as raised:
        tiny_model.encode_slot(context, 2)
    assert "3 mask tokens where 2 are expected" in str(raised.value)
    assert tiny_model.mask_token in str(raised.value)


def test_a_sentence_that_is_too_long_is_refused(tiny_model: MaskedLanguageModel) -> None:
    # Both checkpoints were made for 64 tokens.
    assert tiny_model.max_length == 64
    with pytest.raises(ContextTooLongError, match="64"):
        tiny_model.encode_slot(SlotContext("man " * 70, "."), 1)


def test_masks_take_up_the_space_before_them(tiny_model: MaskedLanguageModel) -> None:
    assert tiny_model.mask_takes_space
