"""Sizes for what nobody gave: small, and such that a swapped axis shows.

Batch, length and vocabulary are distinct primes, widths are products of heads and head width. Where code wants powers
of two the second table is tried, and said.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

BATCH = 2
LENGTH = 13
VOCABULARY = 101
LONGEST = 32
SIDE = 32

Value = int | float | bool | None


class Role(NamedTuple):
    """What a constructor parameter or a field of a config is for, told by its name."""

    name: str
    pattern: str
    product: Value
    power: Value
    is_width: bool = False
    """Widths of one class must often agree in a way that only its author knows."""


ROLES = (
    Role(
        "width",
        r"d_?model|dim|hidden_(size|dim|channels)|n_?embd?|(n_)?embed(ding)?_(dim|size)|emb_(dim|size)|width|embed"
        r"|(n_)?(channels|features)|n_?feats?|(\w+_)?hid_dim|model_(dim|size)|ndim|n_state|d_embed|embd_dim|dims",
        30,
        64,
        is_width=True,
    ),
    Role(
        "width",
        r"((d|dim)_)?in(put)?(_(features|dim|size|width))?|inp_dim|((d|dim)_)?out(put)?_?(features|dim|size|width)?|ninp|nin"
        r"|in_embd|q(uery)?_dim|context_dim|kv_dim|key_dim|value_dim|encoder_dim|decoder_dim|latent_dim|cond_dim",
        30,
        64,
        is_width=True,
    ),
    Role("heads", r"n_?heads?|num_heads?|(n_)?heads|num_attention_heads|n_?q_heads|num_q(uery)?_heads", 3, 4),
    Role(
        "kv heads",
        r"n_?kv_?heads?|num_kv_heads?|num_key_value_heads|kv_heads|n_?local_heads|n_query_groups|n_?kv_groups|num_kv_groups",
        3,
        2,
    ),
    Role("head width", r"head_(dim|size|width)|dim_head|d_?head|d_k|d_v|head_features|d_kv|d_q", 10, 16),
    Role("layers", r"n_?layers?|num_layers|depth|n_?blocks|num_hidden_layers|n_?stages|(num_)?layers|num_blocks", 2, 2),
    Role(
        "vocabulary",
        r"((\w+_)?|n_?)vocab(ulary)?(_?size|_len)?|num_(tokens|embeddings)|n_?tokens?|vocab_dim|n_?vocab|num_embed",
        VOCABULARY,
        VOCABULARY,
    ),
    Role(
        "length",
        r"max_?seq(uence)?_?len(gth)?|block_size|context_(length|size|window|len)|ctx_(len|size)|max_?len(gth)?|seq_?len(gth)?"
        r"|max_(position_embeddings|positions?|ctx|context)|n_?ctx|n_positions|sequence_length|max_t|window_size|T",
        LONGEST,
        LONGEST,
    ),
    Role(
        "hidden",
        r"mlp_(dim|size|hidden(_dim)?)|d_?ff|ff(n)?_?(dim|hidden|size)|dim_feedforward|intermediate_(size|dim)|hidden"
        r"|inner_dim|n_?hidden|hidden_features|hidden_units|ffn_(hidden_)?(size|dim)|nhid|d_hid(den)?|d_inner|dim_ff",
        42,
        128,
    ),
    Role("classes", r"n(um)?_?(classes|class|labels|outputs)|output_(classes)|n_?(out|actions|class)|nclass", 7, 7),
    Role("channels in", r"in_?ch(an(nel)?s?)?|channels_in|num_channels|n_?channels_in|in_c|c_in|img_channels", 3, 3),
    Role("channels out", r"out_?ch(an(nel)?s?)?|channels_out|out_c|c_out|planes", 10, 16),
    Role("channels in", r"inplanes|in_planes", 10, 16),
    Role("side", r"ima?ge?_size|input_resolution|resolution|img_dim", SIDE, SIDE),
    Role("patch", r"patch_(size|dim)|patch", 8, 8),
    Role("kernel", r"kernel(_size)?|d_conv|conv_kernel|ks", 3, 4),
    Role("stride", r"stride|dilation", 1, 1),
    Role("groups", r"groups", 1, 1),
    Role("experts", r"n(um)?_?(local_|routed_)?experts|experts", 5, 4),
    Role(
        "experts used",
        r"top_?k|n(um)?_?(activated_experts|experts_per_tok(en)?|experts_used)|k|n_expert_per_token",
        2,
        2,
    ),
    Role("rank", r"r|rank|lora_(rank|r|dim)|(q|kv)_lora_rank", 4, 4),
    Role("state", r"d_state|n_?state_size|state_(size|dim)|ssm_state_size", 7, 16),
    Role(
        "expansion",
        r"expand|(mlp|expansion|ff|ffn)_(ratio|factor|mult(iplier)?|expansion)|mult|widening_factor|forward_expansion",
        4,
        4,
    ),
    Role("multiple", r"multiple_of", 6, 32),
    Role("probability", r"\w*drop(out|_?path|_?rate|_?prob|_?p)?\w*|p|p_drop|prob", 0.0, 0.0),
    Role("epsilon", r"\w*eps(ilon)?", 1e-5, 1e-5),
    Role("base", r"(rope_)?(base|theta)|rotary_base", 10000.0, 10000.0),
    Role("scale", r"scale|alpha|lora_alpha|init_(std|scale|values)|initializer_range|temperature|std", 1.0, 1.0),
    Role("position", r"layer_?(id|idx|index|number|no)|idx|index", 0, 0),
    Role(
        "flag",
        r"(use_|is_|with_|has_|do_|add_)\w+|causal|mask|flash(_attn)?|weight_tying|tie_(weights|word_embeddings)|norm_first",
        False,
        False,
    ),
    Role("flag", r"\w*bias", True, True),
    Role("none", r"dtype|device|max_batch_size|pad(ding)?_(idx|token_id)|\w*multiplier|rope_scaling", None, None),
)

LAYERS = "layers"
LENGTHS = "length"


class Table(NamedTuple):
    """One consistent choice: three heads of ten, or four of sixteen."""

    name: str
    powers_of_two: bool
    grouped: bool = False
    """Key and value heads are fewer than heads: six heads of ten, three of them with keys and values."""

    def value(self, role: Role) -> Value:
        """The value for a role; widths follow the number of heads."""
        if self.powers_of_two:
            return role.power
        if self.grouped and role.is_width and role.product == 30:
            return 60
        if self.grouped and role.name == "heads":
            return 6
        return role.product


def tables(text: str) -> tuple[Table, Table]:
    """The tables to be tried for a program, in order."""
    grouped = (
        re.search(r"n_?kv_?(heads|groups)|num_(kv|key_value)_(heads|groups)|kv_heads|query_groups", text) is not None
    )
    return Table("products", powers_of_two=False, grouped=grouped), Table("powers of two", powers_of_two=True)


@functools.cache
def role_of(name: str) -> Role | None:
    """What a name is for; None where it says nothing."""
    plain = name.strip("_")
    for role in ROLES:
        if re.fullmatch(role.pattern, plain if plain == "T" else plain.lower()):
            return role
    return None
