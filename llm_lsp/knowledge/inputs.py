"""What known families of tokenizers and models do with the side of padding, with sampling, added tokens and length.

Sources: the classes of transformers 4.46, 5.23 and 5.24 (their position embeddings, and `padding_side`, which is right
but for the classes of Llama, CodeLlama, Gemma, Cohere, XLNet, CPM-Ant and SigLIP 2), and the checkpoints of GPT-2, OPT,
Pythia, GPT-J, Qwen2 and Falcon, whose tokenizers set no side of their own.
"""

from __future__ import annotations

from llm_lsp.knowledge.checkpoint import Checkpoint, Known

__all__ = [
    "ATTENDS_BOTH_WAYS",
    "RAISES_BEYOND",
    "SHIFTS_NO_LABELS",
    "are_new",
    "begins_no_answers",
    "degrades_beyond",
    "padding_side",
    "pads_with_end_of_text",
    "raises_beyond",
    "samples",
    "writes_bos_twice",
]

# ---------------------------------------------------------------- the side of padding

_PADDED_RIGHT = frozenset({"gpt2", "gpt_neo", "gptj", "gpt_neox", "opt", "qwen2", "falcon"})
_PUBLISHERS = frozenset({"", "distilbert", "eleutherai", "facebook", "microsoft", "openai-community", "qwen", "tiiuae"})
"""Whose checkpoints these are; a fine-tune of somebody else's may set a side of its own."""


def padding_side(checkpoint: Checkpoint) -> Known[str] | None:
    """The side on which the checkpoint's tokenizer pads; None where it is unknown."""
    if checkpoint.padding_side is not None or checkpoint.model_type is None:
        return checkpoint.padding_side
    owner = checkpoint.id.lower().rpartition("/")[0]
    if checkpoint.model_type.value in _PADDED_RIGHT and owner in _PUBLISHERS:
        return Known("right", f"tokenizers of {checkpoint.model_type.value} pad right", confirmed=False)
    return None


# ---------------------------------------------------------------- padding and the mask

ATTENDS_BOTH_WAYS = frozenset({
    "albert", "bart", "bert", "big_bird", "camembert", "clap", "convbert", "deberta", "deberta-v2", "distilbert", "electra",
    "ernie", "esm", "flaubert", "funnel", "ibert", "layoutlm", "longformer", "m2m_100", "marian", "mbart", "megatron-bert", "mobilebert",
    "modernbert", "mpnet", "mt5", "nystromformer", "pegasus", "rembert", "roberta", "roformer", "squeezebert", "t5", "tapas", "visual_bert", "xlm-roberta",
    "xlm-roberta-xl",
})  # fmt: skip
"""Types of models, or of the part of them that reads texts, each of whose positions looks at all others, so that padding without a mask changes every one."""
_PADS_WITH_END = frozenset({"phi3", "qwen2", "qwen3"})
"""Types of models whose published checkpoints pad with one of the tokens that end a generation."""
_PUBLISHERS_THAT_PAD_SO = frozenset({"microsoft", "qwen"})


def pads_with_end_of_text(checkpoint: Checkpoint) -> bool:
    """Whether the checkpoint's own pad token is one that ends texts, so that `generate` can't tell padding by it."""
    owner = checkpoint.id.lower().rpartition("/")[0]
    is_such = checkpoint.model_type is not None and checkpoint.model_type.value in _PADS_WITH_END
    return is_such and checkpoint.folder is None and owner in _PUBLISHERS_THAT_PAD_SO


# ---------------------------------------------------------------- sampling

_SEARCHES = frozenset({
    "bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "bloom", "codegen", "falcon", "gpt2", "gpt_neo", "gpt_neox", "gptj", "led", "longt5", "m2m_100",
    "marian", "mbart", "mistral", "mt5", "opt", "pegasus", "phi", "prophetnet", "qwen2", "t5",
})  # fmt: skip
"""Types of models whose publishers leave `do_sample` in `generation_config.json` out, or false."""
_PUBLISHERS_THAT_SEARCH = _PUBLISHERS | {
    "allenai", "bigscience", "google", "google-t5", "helsinki-nlp", "mistralai", "philschmid", "salesforce", "sshleifer",
}  # fmt: skip
_TUNED = ("chat", "instruct", "qwq", "-it", "dialo", "zephyr", "alpha", "beta", "assistant", "tuned")
"""What stands in the names of checkpoints for conversations, many of which sample by themselves."""


def samples(checkpoint: Checkpoint) -> Known[bool] | None:
    """Whether `generate` draws tokens where nothing is said; None where it is unknown."""
    if checkpoint.do_sample is not None or checkpoint.model_type is None or checkpoint.folder is not None:
        return checkpoint.do_sample
    owner, _, name = checkpoint.id.lower().rpartition("/")
    is_plain = not any(word in name for word in _TUNED)
    if is_plain and checkpoint.model_type.value in _SEARCHES and owner in _PUBLISHERS_THAT_SEARCH:
        return Known(value=False, source=f"{checkpoint.model_type.value} samples if it is told to", confirmed=False)
    return None


# ---------------------------------------------------------------- length

RAISES_BEYOND = frozenset({
    "albert", "bart", "bert", "big_bird", "biogpt", "blenderbot", "blenderbot-small", "camembert", "clip", "codegen", "convbert", "data2vec-text", "distilbert",
    "electra", "ernie", "fnet", "gpt2", "gpt_bigcode", "gpt_neo", "gptj", "ibert", "layoutlm", "led", "longformer", "luke", "marian", "mbart", "megatron-bert",
    "mobilebert", "mpnet", "openai-gpt", "opt", "pegasus", "plbart", "rembert", "roberta", "squeezebert", "xlm-roberta", "xlm-roberta-xl", "yoso",
})  # fmt: skip
"""Types of models that look positions up in a table: beyond its last row there is none."""
_DEGRADES_BEYOND = frozenset({
    "cohere", "gemma", "gemma2", "gpt_neox", "internlm2", "llama", "mixtral", "modernbert", "olmo", "olmo2", "phi", "qwen2", "qwen3", "stablelm", "starcoder2",
})  # fmt: skip
"""Types of models whose rotary positions are computed for any length, and learnt up to the context's."""


def raises_beyond(checkpoint: Checkpoint) -> bool:
    """Whether a forward over more tokens than the context holds raises an error."""
    return checkpoint.model_type is not None and checkpoint.model_type.value in RAISES_BEYOND


def degrades_beyond(checkpoint: Checkpoint) -> bool:
    """Whether it goes on, with positions that the model has not learnt."""
    return checkpoint.model_type is not None and checkpoint.model_type.value in _DEGRADES_BEYOND


# ---------------------------------------------------------------- conversations

_NO_TURN_OF_ANSWERS = frozenset({"mistral", "mixtral"})


def begins_no_answers(checkpoint: Checkpoint) -> bool:
    """Whether the chat template of the checkpoint looks the same with `add_generation_prompt`, as those of Mistral and Llama 2."""
    name = checkpoint.id.lower()
    kind = checkpoint.model_type.value if checkpoint.model_type is not None else ""
    return kind in _NO_TURN_OF_ANSWERS or "llama-2" in name or "mistral" in name


_WRITES_BOS_TWICE = (
    (("meta-llama/", "nousresearch/"), ("llama-3", "instruct")),
    (("meta-llama/", "nousresearch/"), ("llama-2", "chat")),
    (("mistralai/",), ("mistral-7b", "instruct")),
    (("mistralai/",), ("mixtral", "instruct")),
    (("google/",), ("gemma", "-it")),
)
"""Publishers, and words of the names, of checkpoints whose chat template begins with the token that begins a text
(`{{ bos_token }}`), and whose tokenizer puts it before every text."""


def writes_bos_twice(name: str) -> bool:
    """Whether a text of the checkpoint's chat template begins with two such tokens once it is tokenized."""
    name = name.lower()
    return any(name.startswith(owners) and all(word in name for word in words) for owners, words in _WRITES_BOS_TWICE)


# ---------------------------------------------------------------- labels

SHIFTS_NO_LABELS = frozenset({
    "bart", "bigbird_pegasus", "blenderbot", "blenderbot-small", "marian", "mbart", "mvp", "pegasus", "plbart", "prophetnet", "speech_to_text_2", "trocr",
    "xlm", "xlm-prophetnet", "xlnet",
})  # fmt: skip
"""Types of models whose causal head compares logits and labels position by position (read in transformers 4.46)."""


# ---------------------------------------------------------------- added tokens

_USUAL = frozenset(
    {"<s>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "<cls>", "<sep>", "<|endoftext|>", "<eos>", "<bos>"}
)  # fmt: skip
"""Special tokens that many vocabularies hold already."""
_SHORTEST_WORD = 4


def are_new(tokens: list[str]) -> int:
    """How many of the tokens certainly are in no vocabulary: at least those that are no plain words.

    Of several plain words that a program adds, one is new, or there would be no reason to add them.
    """
    marked = [token for token in tokens if not token.isalpha() and not _is_usual(token)]
    words = [token for token in tokens if token.isalpha() and len(token) >= _SHORTEST_WORD]
    return len(set(marked)) or int(len(words) > 1)


def _is_usual(token: str) -> bool:
    return token in _USUAL or token.startswith("[unused") or not token.strip()
