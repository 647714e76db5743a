"""Words in whole sentences, for every kind of tokenizer.

The right ids come from transformers alone: the whole sentence is tokenized once, and the word's
tokens are those of its characters and of the space before it. No special case is made for a
tokenizer.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors as post
from transformers import PreTrainedTokenizerFast

from probing.lm.errors import MaskCountError, UnknownWordError, WordEdgeError
from probing.lm.protocols import SlotContext
from probing.lm.question_protocols import Question
from probing.lm.slot_tokenizers import CausalSlotTokenizer, MaskedTokenizer
from probing.lm.sources import ModelFacts
from probing.lm.text_tokenizer import PretrainedTextTokenizer
from probing.lm.word_places import Sentence, WordFinder, locate

LETTERS = string.ascii_letters + string.punctuation
#: Whole words of the tiny vocabularies; “unwise” is built from pieces.
WHOLE = ["That", "person", "people", "is", "are", "clever", "cold", "warm", "They", "un", "The"]
SENTENCES = [
    ("That person is ", "."),
    ("They are ", " people."),
    ('The person is "', '".'),
    ("", " people are cold."),
    ("The person is ", ""),
]
WORDS = ["clever", "warm", "unwise", "cold-warm"]


def _wrap(tokenizer: Tokenizer, **names: Any) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def _around(single: str, vocabulary: dict[str, int]) -> Any:
    special = [(name, vocabulary[name]) for name in single.split() if name != "$A"]
    return post.TemplateProcessing(single=single, special_tokens=special)


def _pairs(marker: str, base: list[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return a vocabulary, and merges that build every whole word from its left end."""
    vocabulary = {token: place for place, token in enumerate(dict.fromkeys(base))}
    merges = []
    for word in WHOLE:
        built = marker
        for letter in word:
            if built + letter not in vocabulary:
                vocabulary[built + letter] = len(vocabulary)
                merges.append((built, letter))
            built += letter
    return vocabulary, merges


def byte_level(*, masked: bool = False, begins: bool = False) -> PreTrainedTokenizerFast:
    names = ["<s>", "</s>", "<pad>", "<unk>", "<mask>"]
    vocabulary, merges = _pairs("Ġ", [*names, *sorted(pre_tokenizers.ByteLevel.alphabet())])
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if masked:
        tokenizer.post_processor = post.RobertaProcessing(
            ("</s>", 1), ("<s>", 0), add_prefix_space=False
        )
        mask = AddedToken("<mask>", lstrip=True, special=True)
        return _wrap(tokenizer, pad_token="<pad>", unk_token="<unk>", mask_token=mask)
    if begins:
        tokenizer.post_processor = _around("<s> $A", vocabulary)
    return _wrap(tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def wordpiece() -> PreTrainedTokenizerFast:
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*names, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WHOLE]
    vocabulary = {token: place for place, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = _around("[CLS] $A [SEP]", vocabulary)
    return _wrap(tokenizer, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")


def unigram(
    *,
    mask: str = "<mask>",
    single: str = "<s> $A </s>",
    absorbs: bool = True,
    sentinels: bool = False,
) -> PreTrainedTokenizerFast:
    names = ["<pad>", "<unk>", *(name for name in single.split() if name != "$A"), mask]
    pieces = [*((name, 0.0) for name in names), *((f"▁{word}", -5.0) for word in WHOLE)]
    pieces += [("▁", -9.0), *((letter, -10.0) for letter in LETTERS)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=1))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = _around(single, {name: place for place, name in enumerate(names)})
    more: dict[str, Any] = {"mask_token": AddedToken(mask, lstrip=absorbs, special=True)}
    if sentinels:
        more = {"extra_special_tokens": ["<extra_id_0>", "<extra_id_1>"]}
    return _wrap(tokenizer, pad_token="<pad>", unk_token="<unk>", **more)


def sentence_bpe(kind: str) -> PreTrainedTokenizerFast:
    names = ["<unk>", "<s>", "</s>", "<pad>"]
    base = [*names, "▁", *LETTERS, *(f"<0x{byte:02X}>" for byte in range(256))]
    vocabulary, merges = _pairs("▁", base)
    model = models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer = Tokenizer(model)
    if kind == "prepended":
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        tokenizer.normalizer = normalizers.Sequence(steps)
    elif kind == "plain":
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.post_processor = _around("<s> $A", vocabulary)
    return _wrap(tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>")


KINDS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "BERT": wordpiece,
    "RoBERTa": lambda: byte_level(masked=True),
    "GPT-2": byte_level,
    "OPT": lambda: byte_level(begins=True),
    "Llama 2": lambda: sentence_bpe("prepended"),
    "Llama, Metaspace": lambda: sentence_bpe("metaspace"),
    "Gemma": lambda: sentence_bpe("plain"),
    "XLM-R": unigram,
    "CamemBERT": lambda: unigram(absorbs=False),
    "ALBERT": lambda: unigram(mask="[MASK]", single="[CLS] $A [SEP]"),
    "T5": lambda: unigram(single="$A </s>", sentinels=True),
}
MASKED = ("BERT", "RoBERTa", "XLM-R", "CamemBERT", "ALBERT")


def right_ids(tokenizer: Any, before: str, word: str, after: str) -> tuple[list[int], list[int]]:
    """Return the places of a word's tokens in its whole sentence, and the sentence's ids."""
    text = before + word + after
    found = tokenizer(text, return_offsets_mapping=True)
    begin, end = len(before.rstrip()), len(before) + len(word)
    own = [
        place
        for place, (a, b) in enumerate(found["offset_mapping"])
        if (a < end and b > begin) or (a == b == len(before) and a > begin)
    ]
    return own, found["input_ids"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_has_the_ids_that_it_has_in_its_sentence(kind: str) -> None:
    tokenizer = KINDS[kind]()
    finder = WordFinder(tokenizer, special=True)
    sentences = [Sentence((before,), (after,)) for before, after in SENTENCES]
    opened = finder.open(sentences, WORDS)
    for (before, after), found in zip(SENTENCES, opened, strict=True):
        for word, ids in zip(WORDS, found.pieces, strict=True):
            places, whole = right_ids(tokenizer, before, word, after)
            assert list(ids) == [whole[place] for place in places], (before, word)
            assert list(found.before) == whole[: places[0]], (before, word)
            assert list(found.after) == whole[places[-1] + 1 :], (before, word)


@pytest.mark.parametrize("kind", MASKED)
def test_a_slot_is_the_sentence_with_the_words_ids_replaced(kind: str) -> None:
    tokenizer = KINDS[kind]()
    lm = MaskedTokenizer(tokenizer, vocabulary_size=len(tokenizer), max_length=64)
    for before, after in SENTENCES:
        for word in WORDS:
            places, whole = right_ids(tokenizer, before, word, after)
            for place in places:
                whole[place] = tokenizer.mask_token_id
            found = lm.encode_slot(SlotContext(before, after), len(places))
            assert found == (tuple(whole), places[0]), (before, word)
            # The pass in which nothing of the word is known yet reads just that.
            chain = lm.slot_chain([SlotContext(before, after)], [word], part="first")
            assert chain.states[0].ids == tuple(whole)


@pytest.mark.parametrize("kind", MASKED)
def test_a_masked_group_is_the_sentence_with_the_groups_ids_replaced(kind: str) -> None:
    tokenizer = KINDS[kind]()
    lm = MaskedTokenizer(tokenizer, vocabulary_size=len(tokenizer), max_length=64)
    mask = tokenizer.mask_token
    found, first = lm.encode_slot(SlotContext("The ", f" people are {mask}.", 0, 1), 1)
    whole = tokenizer("The clever people are people.")["input_ids"]
    people = right_ids(tokenizer, "The clever people are ", "people", ".")[0]
    clever = right_ids(tokenizer, "The ", "clever", " people are people.")[0]
    assert len(people) == len(clever) == 1
    for place in (*people, *clever):
        whole[place] = tokenizer.mask_token_id
    assert (found, first) == (tuple(whole), clever[0])


@pytest.mark.parametrize("kind", MASKED)
def test_the_written_slot_is_text_with_a_mask_token_in_it(kind: str) -> None:
    tokenizer = KINDS[kind]()
    lm = MaskedTokenizer(tokenizer, vocabulary_size=len(tokenizer), max_length=64)
    found, _ = lm.encode_slot(SlotContext("They are ", ".", written=True), 1)
    written = tokenizer(f"They are {tokenizer.mask_token}.")["input_ids"]
    assert list(found) == written
    replaced, _ = lm.encode_slot(SlotContext("They are ", "."), 1)
    # Metaspace puts its own space after a mask, which no sentence without a mask has.
    assert (found == replaced) == (kind in ("BERT", "RoBERTa"))


@pytest.mark.parametrize("kind", ["GPT-2", "OPT", "Llama 2", "Llama, Metaspace", "Gemma"])
def test_a_causal_model_reads_what_is_before_the_word(kind: str) -> None:
    tokenizer = KINDS[kind]()
    facts = ModelFacts("x", "causal", "llama", None, len(tokenizer), None, 64, None)
    slots, ends = CausalSlotTokenizer(tokenizer, facts), PretrainedTextTokenizer(tokenizer, facts)
    for word in WORDS:
        places, whole = right_ids(tokenizer, "That person is ", word, "")
        before, own = whole[: places[0]], [whole[place] for place in places]
        chain = slots.slot_chain([SlotContext("That person is ", "")], [word])
        assert [list(state.ids) for state in chain.states] == [
            before + own[:n] for n in range(len(own))
        ]
        assert chain.target.tolist() == own
        end = ends.open_ends(["That person is"], [word])[0]
        assert (list(end.ids), list(end.words[0])) == (before, own)


@pytest.mark.parametrize("kind", ["GPT-2", "Llama 2", "Llama, Metaspace", "Gemma"])
def test_an_answer_has_the_ids_that_it_has_after_its_question(kind: str) -> None:
    tokenizer = KINDS[kind]()
    facts = ModelFacts("x", "causal", "llama", None, len(tokenizer), None, 64, None)
    found = PretrainedTextTokenizer(tokenizer, facts)
    places, whole = right_ids(tokenizer, "They are cold: ", "clever", "")
    expected = [whole[place] for place in places]
    asked = Question("They are cold")
    assert found.question_text(asked) == "They are cold\nAnswer:"
    for answer in ("clever", " clever"):
        assert list(found.encode_answers(asked, [answer])[0]) == expected
    assert found.encode_after(" clever") == expected
    assert len(expected) == 1


@pytest.mark.parametrize("kind", ["GPT-2", "Llama 2", "Llama, Metaspace", "Gemma"])
def test_a_chat_has_one_begin_token_and_answers_the_ids_of_their_characters(kind: str) -> None:
    """Expected: the whole templated text, tokenized once, and its tokens by their offsets."""
    tokenizer = KINDS[kind]()
    bos = tokenizer.bos_token or ""
    tokenizer.chat_template = bos + "{% for turn in messages %}They are {{ turn['content'] }}: "
    tokenizer.chat_template += "{% endfor %}"
    facts = ModelFacts("x", "causal", "llama", None, len(tokenizer), None, 64, None)
    found = PretrainedTextTokenizer(tokenizer, facts)
    asked = Question("cold", opening="That person is")
    text = f"{bos}They are cold: That person is"
    assert found.question_text(asked) == text
    for word in WORDS:
        whole = tokenizer(f"{text} {word}", add_special_tokens=False, return_offsets_mapping=True)
        ids, begin = whole["input_ids"], len(text) + 1
        own = [
            one for one, (_, stop) in zip(ids, whole["offset_mapping"], strict=True) if stop > begin
        ]
        assert list(found.encode_answers(asked, [word])[0]) == own
        assert [*found.encode_question(asked), *own] == ids
        assert not bos or ids.count(tokenizer.bos_token_id) == 1


def test_a_tokenizer_without_offsets_is_aligned_by_what_it_decodes_to(tmp_path: Path) -> None:
    """The right ids are sentencepiece's own, which says where its pieces begin and end."""
    text = tmp_path / "text"
    text.write_text("\n".join(f"{' '.join(WHOLE)} unwise naïve {word}." for word in WHOLE * 9))
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(tmp_path / "spiece"), vocab_size=36, minloglevel=2
    )
    own = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "spiece.model"))
    tokenizer = transformers.BertGenerationTokenizer(str(tmp_path / "spiece.model"))
    assert not tokenizer.is_fast
    finder = WordFinder(tokenizer, special=False)
    for before, after in (("They are ", "."), ("The naïve person is ", " people.")):
        opened = finder.open([Sentence((before,), (after,))], ["clever", "unwise", "naïve"])[0]
        for word, ids in zip(["clever", "unwise", "naïve"], opened.pieces, strict=True):
            proto = own.encode(before + word + after, return_type="proto")
            begin, end = len(before.rstrip().encode()), len((before + word).encode())
            expected = [p.id for p in proto.pieces if p.begin < end and p.end > begin]
            assert list(ids) == expected, (before, word)


def test_bytes_without_offsets_are_the_words_bytes() -> None:
    """ByT5: an id is a byte and 3; the space before the word is the word's."""
    tokenizer = transformers.ByT5Tokenizer()
    opened = WordFinder(tokenizer, special=False).open(
        [Sentence(("Ça est ",), (".",))], ["né", "bon"]
    )
    for word, ids in zip(["né", "bon"], opened[0].pieces, strict=True):
        assert list(ids) == [byte + 3 for byte in f" {word}".encode()]


def test_a_word_that_is_joined_with_its_neighbor_is_refused_with_the_reason() -> None:
    vocabulary, merges = _pairs("▁", ["<unk>", "▁", *LETTERS])
    for pair in ((".", "."), ("▁clever", ".")):
        vocabulary["".join(pair)] = len(vocabulary)
        merges.append(pair)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    finder = WordFinder(_wrap(tokenizer, unk_token="<unk>"), special=False)
    clever, warm = finder.open([Sentence(("They are ",), (".",))], ["clever", "warm"])[0].words
    assert isinstance(clever, WordEdgeError)
    assert "In 'They are clever.', 'clever' has no tokens of its own" in str(clever)
    assert warm == (vocabulary["▁warm"],)


def test_a_word_that_changes_its_neighbors_is_refused_with_the_reason() -> None:
    """After “b” alone, “.c” is parted, which is one token after other words."""
    pieces = [("<unk>", 0.0), *((letter, -10.0) for letter in (*LETTERS, " ")), (".c", -1.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    part = Regex(r"\bb\.")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(part, behavior="merged_with_previous")
    finder = WordFinder(_wrap(tokenizer, unk_token="<unk>"), special=False)
    (word,) = finder.open([Sentence(("A ",), (".c",))], ["b"])[0].words
    assert isinstance(word, WordEdgeError)
    assert "'b' changes how the tokenizer cuts the words beside it" in str(word)


def test_words_that_are_empty_or_unknown_have_no_ids() -> None:
    lm = MaskedTokenizer(tokenizer := wordpiece(), vocabulary_size=len(tokenizer), max_length=64)
    empty, unknown, known = lm.open([SlotContext("They are ", ".")], [" ", "☃", "warm"])[0].words
    assert isinstance(empty, UnknownWordError)
    assert "is empty" in str(empty)
    assert isinstance(unknown, UnknownWordError)
    assert "cannot encode '☃'" in str(unknown)
    assert known == (tokenizer.convert_tokens_to_ids("warm"),)
    with pytest.raises(MaskCountError):
        lm.open([SlotContext("They [MASK] are ", ".")], ["warm"])


def test_a_stretch_without_a_token_is_refused() -> None:
    with pytest.raises(WordEdgeError):
        locate("a b", [(0, 1), None], 2, 3)
