"""Files that another one's diagnostics rest on: as they are typed, and as they change behind the editor's back."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.notifications import did_save
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import change_text, close_text, codes, open_text, pulled, told_of, write

IMPORTER = """\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from names import NAME

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForMaskedLM.from_pretrained(NAME)
model.eval()


def score(text):
    with torch.no_grad():
        return model(**tokenizer(text, return_tensors="pt")).logits
"""


def test_a_change_in_another_file_counts_without_touching_this_one(workspace: Path) -> None:
    names = write(workspace / "names.py", 'NAME = "bert-base-uncased"\n')

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", IMPORTER)
        assert [each.code for each in await desk.next_published(uri)] == ["LLM101"]
        other = open_text(desk, names, 'NAME = "bert-base-cased"\n')
        assert await desk.next_published(uri, 2) == []
        change_text(desk, other, 'NAME = "bert-base-uncased"\n', 2)
        assert [each.code for each in await desk.next_published(uri, 3)] == ["LLM101"]
        change_text(desk, other, 'NAME = "bert-base-cased"\n', 3)
        assert await desk.next_published(uri, 4) == []
        close_text(desk, other)
        assert [each.code for each in await desk.next_published(uri, 5)] == ["LLM101"]
        told_of(desk, write(names, 'NAME = "bert-base-cased"\n'))
        assert await desk.next_published(uri, 6) == []

    at_desk(workspace, work, capabilities=PUSHED_TO)


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "not told"])
def test_a_file_that_is_gone_from_the_disk_counts_no_more(is_told: bool, workspace: Path) -> None:
    names = write(workspace / "names.py", 'NAME = "bert-base-uncased"\n')

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", IMPORTER)
        first = await pulled(desk, uri)
        assert codes(first) == ["LLM101"]
        names.rename(workspace / "others.py")
        if is_told:
            told_of(desk, names, kind=types.FileChangeType.Deleted)
            told_of(desk, workspace / "others.py", kind=types.FileChangeType.Created)
        assert codes(await pulled(desk, uri, first.result_id)) == []

    at_desk(workspace, work)


def test_a_file_that_changes_on_the_disk_counts_although_nobody_tells(workspace: Path) -> None:
    names = write(workspace / "names.py", 'NAME = "bert-base-uncased"\n')

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", IMPORTER)
        first = await pulled(desk, uri)
        assert codes(first) == ["LLM101"]
        write(names, 'NAME = "bert-base-cased"\n')
        assert codes(await pulled(desk, uri, first.result_id)) == []

    at_desk(workspace, work)


def test_a_client_that_pulls_is_asked_to_when_another_text_counts(workspace: Path) -> None:
    names = write(workspace / "names.py", 'NAME = "bert-base-uncased"\n')

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", IMPORTER)
        await pulled(desk, uri)
        open_text(desk, workspace / "unrelated.py", "x = 1\n")
        await desk.settled()
        assert desk.refreshed == []
        open_text(desk, names, 'NAME = "bert-base-cased"\n')
        await desk.until(lambda: desk.refreshed == ["diagnostics"])
        assert codes(await pulled(desk, uri)) == []

    at_desk(workspace, work)


HELPER = """\
from transformers import AutoModelForMaskedLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
model.eval()


def predict(text):
    return model(**tokenizer(text, return_tensors="pt")).logits.argmax(-1)
"""
CALLER = """\
import torch
from helper import predict

with torch.no_grad():
    print(predict("a text"))
"""


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_who_imports_a_file_counts_as_it_is_typed(capabilities: ClientCapabilities, workspace: Path) -> None:
    async def found(desk: Desk, uri: str) -> list[object]:
        await desk.settled()
        if not capabilities.pulls_diagnostics:
            return [each.code for each in desk.shown(uri)]
        return codes(await pulled(desk, uri))

    async def work(desk: Desk) -> None:
        uri = open_text(desk, write(workspace / "helper.py", HELPER), HELPER)
        assert await found(desk, uri) == ["LLM301"]
        caller = open_text(desk, workspace / "caller.py", CALLER)
        assert await found(desk, uri) == []
        change_text(desk, caller, CALLER.replace("from helper", "from helpers"), 2)
        assert await found(desk, uri) == ["LLM301"]
        change_text(desk, caller, CALLER, 3)
        assert await found(desk, uri) == []
        close_text(desk, caller)
        assert await found(desk, uri) == ["LLM301"]
        told_of(desk, write(workspace / "caller.py", CALLER), kind=types.FileChangeType.Created)
        assert await found(desk, uri) == []

    at_desk(workspace, work, capabilities=capabilities)


ASKER = """\
import torch
from transformers import AutoTokenizer

from helper import model_for

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = model_for("english")
with torch.no_grad():
    print(model(**tokenizer("a text", return_tensors="pt")).logits)
"""
LOADS_ANOTHER = """\
from transformers import AutoModelForMaskedLM


def model_for(language):
    return AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
"""
LOADS_THE_RIGHT_ONE = LOADS_ANOTHER.replace("uncased", "cased")


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_a_helper_that_is_mended_mends_its_callers(capabilities: ClientCapabilities, workspace: Path) -> None:
    """As it is typed, on the disk, through another module, renamed and deleted; the caller is never touched."""
    helper, inner = workspace / "helper.py", workspace / "inner.py"
    write(helper, LOADS_ANOTHER)

    async def found(desk: Desk, uri: str) -> list[object]:
        await desk.settled()
        if not capabilities.pulls_diagnostics:
            return [each.code for each in desk.shown(uri)]
        return codes(await pulled(desk, uri))

    async def work(desk: Desk) -> None:
        uri = open_text(desk, write(workspace / "a.py", ASKER), ASKER)
        assert await found(desk, uri) == ["LLM101"]
        other = open_text(desk, helper, LOADS_ANOTHER)
        change_text(desk, other, LOADS_THE_RIGHT_ONE, 2)
        assert await found(desk, uri) == []
        change_text(desk, other, "from inner import model_for\n", 3)
        assert await found(desk, uri) == []  # nobody knows what that is
        told_of(desk, write(inner, LOADS_ANOTHER), kind=types.FileChangeType.Created)
        assert await found(desk, uri) == ["LLM101"]
        told_of(desk, write(inner, LOADS_THE_RIGHT_ONE))
        assert await found(desk, uri) == []
        close_text(desk, other)
        assert await found(desk, uri) == ["LLM101"]
        helper.rename(workspace / "helpers.py")
        told_of(desk, helper, kind=types.FileChangeType.Deleted)
        told_of(desk, workspace / "helpers.py", kind=types.FileChangeType.Created)
        assert await found(desk, uri) == []
        renamed = open_text(desk, workspace / "helpers.py", LOADS_ANOTHER)
        close_text(desk, renamed)
        (workspace / "helpers.py").rename(helper)
        moved = open_text(desk, helper, LOADS_ANOTHER)
        assert await found(desk, uri) == ["LLM101"]
        close_text(desk, moved)
        helper.unlink()
        told_of(desk, helper, kind=types.FileChangeType.Deleted)
        assert await found(desk, uri) == []

    at_desk(workspace, work, capabilities=capabilities)


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_a_module_that_comes_to_be_counts_although_nobody_tells(
    capabilities: ClientCapabilities, workspace: Path
) -> None:
    async def found(desk: Desk, uri: str) -> list[object]:
        await desk.settled()
        if not capabilities.pulls_diagnostics:
            return [each.code for each in desk.shown(uri)]
        return codes(await pulled(desk, uri))

    async def work(desk: Desk) -> None:
        uri = open_text(desk, write(workspace / "a.py", ASKER), ASKER)
        assert await found(desk, uri) == []
        helper = workspace / "helper.py"
        other = open_text(desk, helper, LOADS_ANOTHER)
        write(helper, LOADS_ANOTHER)
        did_save.handle(desk.session, types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(other)))
        assert await found(desk, uri) == ["LLM101"]

    at_desk(workspace, work, capabilities=capabilities)


EVALUATION = """\
def accuracy(model, batches):
    return [model(**batch).logits.argmax(-1) for batch in batches]


def save(model, path):
    model.save_pretrained(model.state_dict(), path)
"""
SCRIPT = """\
import torch
from evaluation import accuracy
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
batches = torch.load("batches.pt", weights_only=True)
print(accuracy(model.eval(), batches))
"""


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_what_only_a_script_shows_follows_the_script_as_it_is_typed(
    capabilities: ClientCapabilities, workspace: Path
) -> None:
    async def found(desk: Desk, uri: str) -> list[object]:
        await desk.settled()
        if not capabilities.pulls_diagnostics:
            return [each.code for each in desk.shown(uri)]
        return codes(await pulled(desk, uri))

    async def work(desk: Desk) -> None:
        uri = open_text(desk, write(workspace / "evaluation.py", EVALUATION), EVALUATION)
        assert await found(desk, uri) == []
        script = open_text(desk, workspace / "main.py", SCRIPT)
        assert await found(desk, uri) == ["LLM301"]
        change_text(desk, script, SCRIPT.replace("print(", "with torch.no_grad():\n    print("), 2)
        assert await found(desk, uri) == []
        change_text(desk, script, SCRIPT, 3)
        assert await found(desk, uri) == ["LLM301"]
        change_text(desk, script, SCRIPT.replace("from evaluation import accuracy", "from metrics import accuracy"), 4)
        assert await found(desk, uri) == []
        write(workspace / "metrics.py", "from evaluation import accuracy\n")
        told_of(desk, workspace / "metrics.py", kind=types.FileChangeType.Created)
        assert await found(desk, uri) == ["LLM301"]
        close_text(desk, script)
        assert await found(desk, uri) == []

    at_desk(workspace, work, capabilities=capabilities)


def test_that_nothing_has_changed_is_known_without_reading_a_file(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace / "caller.py", CALLER)
    write(workspace / "names.py", 'NAME = "bert-base-uncased"\n')

    async def work(desk: Desk) -> None:
        first = open_text(desk, write(workspace / "helper.py", HELPER), HELPER)
        second = open_text(desk, workspace / "a.py", IMPORTER)
        known = {uri: await pulled(desk, uri) for uri in (first, second)}

        def read(path: Path) -> bytes:
            raise AssertionError(path)

        monkeypatch.setattr(Path, "read_bytes", read)
        for uri, report in known.items():
            again = await pulled(desk, uri, report.result_id)
            assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
        monkeypatch.undo()
        write(workspace / "caller.py", "from helper import predict\npredict('a text')\n")
        assert codes(await pulled(desk, first, known[first].result_id)) == ["LLM301"]

    at_desk(workspace, work)
