"""Which forward passes are made, and that none is made twice."""

from __future__ import annotations

from probing.lm import SlotContext
from probing.lm.masked import MaskedLanguageModel
from probing.lm.slot_passes import build_chain

CONTEXT = SlotContext("That man is ", ".")


def test_words_of_one_subword_share_one_pass(tiny_bert: MaskedLanguageModel) -> None:
    chain = build_chain(tiny_bert, [CONTEXT], ["poor", "wealthy", "cold", "warm"])
    assert len(chain.states) == 1
    assert len(chain.target) == 4


def test_a_word_needs_one_pass_for_each_subword(tiny_bert: MaskedLanguageModel) -> None:
    """poor and wealthy have one piece, dominated four, unconfident six: 1 + 4 + 6 passes."""
    words = ["poor", "wealthy", "dominated", "unconfident"]
    assert [len(tiny_bert.split(word).ids) for word in words] == [1, 1, 4, 6]
    chain = build_chain(tiny_bert, [CONTEXT], words)
    assert len(chain.states) == 1 + 4 + 6
    assert len(chain.target) == 1 + 1 + 4 + 6


def test_words_that_begin_alike_share_their_common_passes(
    tiny_model: MaskedLanguageModel,
) -> None:
    """A pass is told by context, number of masks and filled prefix: count the distinct ones."""
    words = ["low-status", "high-status", "unconfident", "unassertive", "powerless", "poor"]
    contexts = [CONTEXT, SlotContext("That elderly person is ", ".")]
    pieces = [tiny_model.split(word).ids for word in words]
    distinct = {(len(p), p[:i]) for p in pieces for i in range(len(p))}
    chain = build_chain(tiny_model, contexts, words)
    assert len(chain.states) == 2 * len(distinct)
    assert len(set(chain.states)) == len(chain.states)


def test_every_target_is_read_at_an_open_mask_with_the_word_so_far_before_it(
    tiny_model: MaskedLanguageModel,
) -> None:
    words = ["low-status", "poor"]
    chain = build_chain(tiny_model, [CONTEXT], words)
    mask_id = tiny_model.tokenizer.mask_id
    for row in range(len(chain.target)):
        state = chain.states[chain.state[row]]
        pieces = tiny_model.split(words[chain.word[row]]).ids
        i = int(chain.subword[row])
        assert chain.target[row] == pieces[i]
        assert state.ids[state.position] == mask_id
        assert state.ids[state.position - i : state.position] == pieces[:i]
        assert state.ids.count(mask_id) == len(pieces) - i


def test_states_are_sorted_by_length_and_tokens_are_counted(
    tiny_model: MaskedLanguageModel,
) -> None:
    chain = build_chain(tiny_model, [CONTEXT], ["unconfident", "poor", "dominated"])
    lengths = [len(state.ids) for state in chain.states]
    assert lengths == sorted(lengths)
    assert chain.tokens == sum(lengths)
