"""What is shown where nothing is wrong: hovers, completions, code lenses, inlay hints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server.lenses import lens_places
from llm_lsp.server.requests import code_lens, completion, execute_command, hover, inlay_hint
from llm_lsp.source import Source
from tests.server.desk import PULLING, Desk, at_desk
from tests.server.opening import change_text, open_text
from tests.server.programs import FAULTY


def marked(text: str) -> tuple[str, types.Position]:
    """A text without its mark `|`, and where that stands."""
    before, _, after = text.partition("|")
    return before + after, types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


async def hovered(desk: Desk, text: str, path: Path) -> str | None:
    content, position = marked(text)
    uri = open_text(desk, path, content)
    found = await hover.handle(desk.session, types.HoverParams(types.TextDocumentIdentifier(uri), position))
    if found is None:
        return None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa: L|LM101\n",
        "x = 1  # noqa: E501, LLM10|1\n",
        "x = 1  # llm-lint: ignore[tokenizer-of-|another-model]\n",
        "# llm-lint: ignore-file[|LLM101]\n",
        "x = 1  # noqa: LLM101|\n",
    ],
)
def test_the_page_on_a_rule_is_shown_over_its_code(text: str, workspace: Path) -> None:
    async def work(desk: Desk) -> str | None:
        return await hovered(desk, text, workspace / "a.py")

    page = at_desk(workspace, work)
    assert page is not None
    assert page.startswith("**LLM101** `tokenizer-of-another-model`: error")


@pytest.mark.parametrize(
    "text",
    ["x = 'LLM1|01'\n", "# LLM|101 is a rule\n", "x = 1  # noqa: LLM9|99\n", "LLM|101  # noqa\n", "|", "x = 1\n\n|"],
)
def test_over_other_words_nothing_is_shown(text: str, workspace: Path) -> None:
    async def work(desk: Desk) -> str | None:
        return await hovered(desk, text, workspace / "a.py")

    assert at_desk(workspace, work) is None


def test_a_checkpoint_has_a_card(workspace: Path) -> None:
    async def work(desk: Desk) -> str | None:
        return await hovered(desk, 'load("bert-base-|uncased", "other")\n', workspace / "a.py")

    card = at_desk(workspace, work)
    assert card is not None
    for line in (
        "**bert-base-uncased**",
        "| context length | 512 tokens |",
        "| vocabulary | 30,522 rows |",
        " GB in int4",
    ):
        assert line in card
    assert "From " in card


def test_a_local_checkpoint_has_a_card_of_its_own_files(workspace: Path) -> None:
    folder = workspace / "out"
    folder.mkdir()
    config = '{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 77, "max_position_embeddings": 64}'
    (folder / "config.json").write_text(config, encoding="utf-8")

    async def work(desk: Desk) -> str | None:
        return await hovered(desk, 'load("./o|ut")\n', workspace / "a.py")

    card = at_desk(workspace, work)
    assert card is not None
    assert "77 rows" in card


def test_a_card_waits_for_no_check(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(desk: Desk) -> str | None:
        text, _ = marked('load("bert-base-|uncased")\n')
        await desk.session.current(open_text(desk, workspace / "a.py", text))

        def fail(*_: object) -> None:
            raise AssertionError

        monkeypatch.setattr(desk.session, "in_worker", fail)
        return await hovered(desk, 'load("bert-base-|uncased")  # more\n', workspace / "a.py")

    assert at_desk(workspace, work)


def test_a_text_that_names_no_checkpoint_has_no_card(workspace: Path) -> None:
    async def work(desk: Desk) -> str | None:
        return await hovered(desk, 'load("no-such-|checkpoint-anywhere")\n', workspace / "a.py")

    assert at_desk(workspace, work) is None


def test_what_is_known_of_a_model_is_shown_where_it_is_called(workspace: Path) -> None:
    async def work(desk: Desk) -> str | None:
        await desk.session.current(open_text(desk, workspace / "a.py", FAULTY))
        return await hovered_at_call(desk)

    async def hovered_at_call(desk: Desk) -> str | None:
        row = FAULTY[: FAULTY.index("return model(")].count("\n")
        position = types.Position(row, FAULTY.split("\n")[row].index("model") + 1)
        uri = (workspace / "a.py").as_uri()
        found = await hover.handle(desk.session, types.HoverParams(types.TextDocumentIdentifier(uri), position))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    page = at_desk(workspace, work)
    assert page is not None
    for said in ("`model` here", "loaded from `bert-base-uncased`", "in evaluation mode", "gradients off"):
        assert said in page


# ---------------------------------------------------------------- completion


def completed(text: str, folder: Path) -> list[types.CompletionItem]:
    content, position = marked(text)

    async def work(desk: Desk) -> list[types.CompletionItem]:
        uri = open_text(desk, folder / "a.py", content)
        found = completion.handle(desk.session, types.CompletionParams(types.TextDocumentIdentifier(uri), position))
        return list(found.items) if found is not None else []

    return at_desk(folder, work)


@pytest.mark.parametrize(
    "text",
    [
        'AutoModel.from_pretrained("bert-base-un|")\n',
        "AutoModel.from_pretrained(\n    'bert-base-un|",
        'pipeline("ner", model="bert-base-un|")\n',
        'AutoModel.from_pretrained(pretrained_model_name_or_path="bert-base-un|")\n',
    ],
)
def test_checkpoints_are_completed_where_one_is_loaded(text: str, workspace: Path) -> None:
    found = {each.label: each.text_edit for each in completed(text, workspace)}
    assert "bert-base-uncased" in found
    edit = found["bert-base-uncased"]
    assert isinstance(edit, types.TextEdit)
    assert edit.range.end.character - edit.range.start.character == len("bert-base-un")


@pytest.mark.parametrize("text", ["x = 1  # noqa: |", "x = 1  # noqa: E501, LL|", "x = 1  # llm-lint: ignore[|]"])
def test_rules_are_completed_where_one_is_suppressed(text: str, workspace: Path) -> None:
    found = {each.label: each.detail for each in completed(text, workspace)}
    assert found["LLM101"] == "tokenizer-of-another-model"


@pytest.mark.parametrize("text", ["x = '|'\n", "# |\n", 'open("|")\n', 'from_pretrained("a"), open("|")\n'])
def test_elsewhere_nothing_is_completed(text: str, workspace: Path) -> None:
    assert completed(text, workspace) == []


# ---------------------------------------------------------------- code lenses

MODULES = """\
import torch
from torch import nn
from transformers import AutoModel, BertPreTrainedModel

class Block(nn.Module):
    def forward(self, x):
        return x

class Net(Block):
    class Inner(torch.nn.Module):
        pass

class Head(BertPreTrainedModel): ...

class Plain: ...

def build(name):
    return AutoModel.from_pretrained(name)

async def make():
    return Net()

def other(path):
    return open(path)
"""


def places(text: str, before: str = "") -> list[str]:
    earlier = lens_places(Source.from_text("a.py", before), ()) if before else ()
    return [place.name for place in lens_places(Source.from_text("a.py", text), earlier)]


def test_lenses_stand_above_modules_and_functions_that_build_models() -> None:
    assert places(MODULES) == ["Block", "Net", "Inner", "Head", "build", "make"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def early():\n    return Net()\n\nclass Net(nn.Module): ...\n\ndef late(): return Net()\n", ["Net", "late"]),
        ("class A(nn.Module): ...\nclass B(A): ...\ndef f():\n    return [\n        B(),\n    ]\n", ["A", "B", "f"]),
        ("def f():\n    return (AutoModel.\n        from_config(c))\n\ndef from_config(): return 1\n", ["f"]),
        ("def f():\n    return AutoModel.\N{FULLWIDTH LATIN SMALL LETTER F}rom_config(c)\n", ["f"]),
        ("def f():\n    def from_pretrained(): return 1\n\ndef g():\n    # from_pretrained\n    pass\n", []),
    ],
    ids=["before its class", "a class of a class", "lines", "other characters", "only the name"],
)
def test_a_lens_stands_where_a_call_builds_a_model(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize("typed", ["class Net(Block", "class Net(", "class Net", "def build(name", "async def make("])
def test_lenses_stay_while_their_line_is_typed(typed: str) -> None:
    line = next(line for line in MODULES.split("\n") if line.startswith(typed))
    assert set(places(MODULES.replace(line, typed), MODULES)) >= {"Block", "Net", "build", "make"}


def test_lenses_go_with_their_class() -> None:
    assert "Head" not in places(MODULES.replace("class Head(BertPreTrainedModel): ...", "x = ("), MODULES)


def test_nothing_that_can_not_be_run_has_a_lens(workspace: Path) -> None:
    async def lenses(desk: Desk) -> list[object]:
        uri = open_text(desk, workspace / "a.py", MODULES)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        untrusted = await code_lens.handle(desk.session, params)
        desk.session.change_options({"trusted": True})
        trusted = await code_lens.handle(desk.session, params)
        return [len(untrusted), len(trusted) > 0, desk.refreshed.count("code lenses")]

    capabilities = replace(PULLING, refreshes_code_lenses=True)
    assert at_desk(workspace, lenses, capabilities=capabilities, options={"trusted": False}) == [0, True, 1]


def test_lenses_can_be_switched_off(workspace: Path) -> None:
    async def work(desk: Desk) -> list[types.CodeLens]:
        uri = open_text(desk, workspace / "a.py", MODULES)
        return await code_lens.handle(desk.session, types.CodeLensParams(types.TextDocumentIdentifier(uri)))

    assert at_desk(workspace, work)
    assert at_desk(workspace, work, options={"codeLens": {"checkShapes": False}}) == []


# ---------------------------------------------------------------- inlay hints


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, []),
        ({"inlayHints.gradMode": True}, ["gradients off"]),
        ({"inlayHints": {"gradMode": True, "precision": True}}, ["gradients off, float16"]),
    ],
)
def test_hints_are_shown_only_where_they_are_asked_for(options: object, labels: list[str], workspace: Path) -> None:
    text = FAULTY.replace("model.eval()", "model.half().eval()")

    async def work(desk: Desk) -> list[object]:
        uri = open_text(desk, workspace / "a.py", text)
        everything = types.Range(types.Position(0, 0), types.Position(99, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        return [each.label for each in await inlay_hint.handle(desk.session, params)]

    assert at_desk(workspace, work, options=options) == labels


def test_the_report_on_the_server_names_settings_and_rules(workspace: Path) -> None:
    (workspace / "llm-lint.toml").write_text("", encoding="utf-8")

    async def work(desk: Desk) -> str:
        open_text(desk, workspace / "a.py", "x = 1\n")
        params = types.ExecuteCommandParams("llm-lint.debugInformation")
        return str(await execute_command.handle(desk.session, params))

    report = at_desk(workspace, work, capabilities=replace(PULLING, encoding="utf-8"))
    for word in ("llm-lint.toml", "LLM101", "pygls", "encoding: utf-8", "a.py (version 1)"):
        assert word in report


def test_a_hover_follows_the_text(workspace: Path) -> None:
    async def work(desk: Desk) -> object:
        uri = open_text(desk, workspace / "a.py", FAULTY)
        await desk.session.current(uri)
        change_text(desk, uri, "\n" + FAULTY, 2)
        position = types.Position(10, 16)
        return await hover.handle(desk.session, types.HoverParams(types.TextDocumentIdentifier(uri), position))

    assert at_desk(workspace, work) is None
