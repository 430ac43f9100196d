"""What the rules find when one thing is taken away from code that is right, and what they miss.

    python scripts/mutants.py --only LLM301

Silence on good code proves nothing by itself: a rule that never speaks is silent too. So each place of the corpus
(`scripts/corpus.py`), of `examples/` and of the good twins in `tests/cases/` that is right because of one protection,
one id, one seed or one check is changed there, one at a time; the mutant is *caught* if the rule then reports a place
within what was changed that it did not report before. The recall is printed by rule and by part, the misses with
their place, so that they can be looked at one by one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from llm_lsp.diagnostic import Diagnostic
from scripts import corpus
from scripts.linting import Linter
from scripts.mutation import (
    arrays,
    assembly,
    batches,
    checkpoints,
    classes,
    containers,
    coroutines,
    credentials,
    debuggers,
    defaults,
    devices,
    generation,
    gradients,
    inputs,
    lengths,
    migrations,
    modes,
    padding,
    precision,
    seeds,
    shifts,
    training,
)
from scripts.mutation.edits import Mutant, Program

ROOT = corpus.ROOT


class Maker(NamedTuple):
    """What makes the mutants for one rule."""

    words: tuple[str, ...]
    """Without one of which there is nothing to change in a text."""
    mutants: Callable[[Program], Iterator[Mutant]]


MAKERS = {
    "LLM101": Maker(("from_pretrained",), checkpoints.mutants),
    "LLM102": Maker(("from_pretrained",), padding.mutants_without_pad_token),
    "LLM103": Maker(("pad_token",), padding.mutants_that_mask_ends),
    "LLM104": Maker(("from_pretrained", "resize_token_embeddings"), inputs.mutants_without_rows),
    "LLM107": Maker(("truncation",), lengths.mutants),
    "LLM108": Maker((".generate(",), inputs.mutants_padded_right),
    "LLM109": Maker(("add_special_tokens",), generation.mutants_begun_twice),
    "LLM110": Maker(("add_generation_prompt",), generation.mutants_without_header),
    "LLM112": Maker(("from_pretrained", "attention_mask"), padding.mutants_without_mask),
    "LLM113": Maker(("CausalLM", "LMHead"), shifts.mutants),
    "LLM114": Maker(("-100", "labels"), inputs.mutants_with_padded_labels),
    "LLM116": Maker(("from_pretrained",), inputs.mutants_too_long),
    "LLM117": Maker(("mask", "last_hidden_state"), padding.mutants_that_count_padding),
    "LLM118": Maker(("-100",), inputs.mutants_that_decode_ignored),
    "LLM119": Maker(("from_pretrained",), devices.mutants),
    "LLM201": Maker((".generate(",), generation.mutants_that_do_not_sample),
    "LLM202": Maker((".generate(",), generation.mutants_at_zero),
    "LLM204": Maker((".generate(",), generation.mutants_that_count_prompts),
    "LLM206": Maker((".generate(",), generation.mutants_with_prompts),
    "LLM208": Maker(("from_pretrained",), classes.mutants_without_maps),
    "LLM210": Maker(("AutoModelFor",), classes.mutants_of_class),
    "LLM211": Maker(("eval()", "from_pretrained"), modes.mutants),
    "LLM212": Maker(("training=self.training", "nn.Module"), defaults.mutants_that_always_drop),
    "LLM301": Maker(("no_grad", "inference_mode", "set_grad_enabled"), gradients.mutants),
    "LLM302": Maker(("float16", "half", "fp16", "from_pretrained", ".backward("), precision.mutants_of_dtype),
    "LLM303": Maker(("float16", "half", "fp16", "from_pretrained"), precision.mutants_on_cpu),
    "LLM304": Maker(("GradScaler", "fp16=True", ".backward("), training.mutants_with_half_weights),
    "LLM305": Maker(("unscale_", "scaler", ".backward("), training.mutants_clipped_while_scaled),
    "LLM308": Maker(("+=", ".backward("), training.mutants_with_kept_graph),
    "LLM309": Maker((".backward(",), containers.mutants_with_kept_tensors),
    "LLM310": Maker((".numpy(",), arrays.mutants),
    "LLM316": Maker((".item()", ".generate(", ".tolist()"), containers.mutants_with_tensor_keys),
    "LLM401": Maker(("cross_entropy",), defaults.mutants_normalized_twice),
    "LLM402": Maker(("zero_grad",), defaults.mutants_not_cleared),
    "LLM403": Maker(("sched", ".backward("), defaults.mutants_with_an_early_schedule),
    "LLM404": Maker((" / ", "/="), batches.mutants_undivided),
    "LLM405": Maker((".train()", ".backward("), training.mutants_with_kept_mode),
    "LLM406": Maker((".parameters(",), assembly.mutants_with_an_early_optimizer),
    "LLM407": Maker(("kl_div",), defaults.mutants_of_probabilities),
    "LLM408": Maker(("ModuleList", "ModuleDict"), assembly.mutants_with_plain_containers),
    "LLM412": Maker(("checkpoint(",), defaults.mutants_with_reentrant_checkpoints),
    "LLM413": Maker(("preprocess_logits_for_metrics",), defaults.mutants_that_keep_logits),
    "LLM414": Maker(("compute_loss",), defaults.mutants_with_the_old_signature),
    "LLM415": Maker(("accelerator.backward(", "Accelerator("), batches.mutants_past_the_accelerator),
    "LLM416": Maker(("register_full_backward_hook", "register_forward_hook"), defaults.mutants_with_old_hooks),
    "LLM501": Maker(("seed",), seeds.mutants),
    "LLM503": Maker(("worker_init_fn",), batches.mutants_with_a_shared_generator),
    "LLM505": Maker(("IterableDataset",), batches.mutants_with_more_workers),
    "LLM601": Maker(("set_epoch", "DataLoader"), training.mutants_without_epoch),
    "LLM602": Maker(("rank",), batches.mutants_that_save_on_all_ranks),
    "LLM701": Maker(("weights_only",), defaults.mutants_that_unpickle),
    "LLM703": Maker(("token=", "api_key=", "_TOKEN", "_API_KEY"), credentials.mutants),
    "LLM801": Maker(("TrainingArguments", "Config(", "AutoModel"), migrations.mutants_with_gone_arguments),
    "LLM802": Maker(("TrainingArguments", "Config(", "Trainer(", "AutoModel"), migrations.mutants_with_old_names),
    "LLM901": Maker(("async def", "def "), coroutines.mutants),
    "LLM905": Maker(("import torch", "from "), debuggers.mutants),
}
_SHOWN_ROWS = 12

SILENT_IN_TESTS = frozenset(
    {
        gradients.CODE,
        seeds.CODE,
        defaults.LOAD,
        generation.COUNTED,
        modes.CODE,
        generation.LEFT_IN,
        precision.AUTOCAST,
        precision.ON_CPU,
        classes.NO_MAPS,
        training.HALF_WEIGHTS,
        training.GRAPH_KEPT,
        training.MODE_KEPT,
        training.EPOCH,
        containers.IN_LIST,
        debuggers.CODE,
        batches.ON_ALL_RANKS,
    }
)
"""Rules for which a mutant of a test is no fault: a test keeps little, is not repeated by hand, and tries precisions."""


class Place(NamedTuple):
    """A program of the corpus, and what the tables call its origin."""

    origin: str
    path: Path
    is_test: bool = False


class Result(NamedTuple):
    """What became of one mutant."""

    origin: str
    path: str
    mutant: Mutant
    is_caught: bool


def places(cache: Path) -> Iterator[Place]:
    """The programs that are changed, in a stable order."""
    for file in corpus.files(cache):
        yield Place(f"{file.package} {file.part}", file.path, file.is_test)
    for origin, folder, pattern in (
        ("examples", ROOT / "examples", "*-fixed/**/*.py"),
        ("cases", ROOT / "tests" / "cases", "*/good*.py"),
        ("cases", ROOT / "tests" / "cases", "*/good/*.py"),
    ):
        for path in sorted(folder.glob(pattern)):
            yield Place(origin, path)


def mutants(path: Path, codes: frozenset[str]) -> list[Mutant]:
    """The mutants of a file for some rules; none where the file is no program."""
    text = path.read_text(encoding="utf-8-sig")
    makers = [MAKERS[code] for code in sorted(codes & MAKERS.keys())]
    makers = [maker for maker in makers if any(word in text for word in maker.words)]
    try:
        program = Program(text) if makers else None
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [] if program is None else sorted(mutant for maker in makers for mutant in maker.mutants(program))


def run(linter: Linter, chosen: Iterable[Place], codes: frozenset[str], limit: int | None) -> Iterator[Result]:
    """Lint every mutant, at most `limit` for each rule."""
    made: Counter[str] = Counter()
    for place in chosen:
        before: list[Diagnostic] | None = None
        for mutant in mutants(place.path, codes - SILENT_IN_TESTS if place.is_test else codes):
            if limit is not None and made[mutant.code] >= limit:
                continue
            made[mutant.code] += 1
            if before is None:
                before = linter.diagnostics(place.path)
            after = linter.diagnostics(place.path, mutant.text)
            yield Result(place.origin, _shown(place.path), mutant, _is_caught(mutant, before, after))


def _is_caught(mutant: Mutant, before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> bool:
    """Rows are the original's in a mutant too, so that a report is new if nothing was reported in its row."""
    # The two rules on half precision divide one fault between them: either is right.
    halves = {precision.AUTOCAST, precision.ON_CPU}
    codes = halves if mutant.code in halves else {mutant.code}
    known = {(one.code, one.location.range.start.row) for one in before}
    new = [one for one in after if one.code in codes and (one.code, one.location.range.start.row) not in known]
    return any(
        one.location.range.start.row <= last and first <= one.location.range.end.row
        for one in new
        for first, last in mutant.places
    )


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


# ---------------------------------------------------------------- what is printed


def table(results: Iterable[Result]) -> str:
    """The recall by rule and origin, as a Markdown table."""
    made: Counter[tuple[str, str]] = Counter()
    caught: Counter[tuple[str, str]] = Counter()
    for result in results:
        for origin in (result.origin, "all"):
            made[result.mutant.code, origin] += 1
            caught[result.mutant.code, origin] += result.is_caught
    lines = ["| rule | of | mutants | caught | recall |", "| --- | --- | ---: | ---: | ---: |"]
    for code, origin in sorted(made, key=lambda key: (key[0], key[1] != "all", key[1])):
        number, hits = made[code, origin], caught[code, origin]
        lines.append(f"| {code} | {origin} | {number} | {hits} | {hits / number:.0%} |")
    return "\n".join(lines)


def misses(results: Iterable[Result]) -> Iterator[str]:
    """Each mutant that was not caught: where, what, and the rows around the change."""
    for result in results:
        if not result.is_caught:
            first, last = result.mutant.changed
            rows = result.mutant.text.split("\n")[first - 1 : min(last, first + _SHOWN_ROWS)]
            snippet = "\n".join(f"    {row}" for row in rows)
            yield f"{result.path}:{first}: {result.mutant.code} {result.mutant.kind}\n{snippet}"


def as_json(results: Iterable[Result]) -> str:
    """The results, one object each."""
    return json.dumps(
        [
            {
                "rule": result.mutant.code,
                "kind": result.mutant.kind,
                "of": result.origin,
                "filename": result.path,
                "rows": result.mutant.changed,
                "caught": result.is_caught,
            }
            for result in results
        ],
        indent=1,
    )


def main() -> int:
    """Make the mutants, lint them, print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="CODES", help="rules, separated by commas")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many mutants for each rule")
    parser.add_argument("--of", metavar="WORD", default="", help="only of origins and paths that contain this")
    parser.add_argument("--json", action="store_true", help="one object for each mutant")
    parser.add_argument("--cache", type=Path, default=corpus.CACHE, help="the corpus (default: .cache/corpus)")
    options = parser.parse_args()
    absent = corpus.missing(options.cache)
    if absent:
        names = ", ".join(package.name for package in absent)
        print(f"{names} missing: run `python scripts/corpus.py` first; going on without", file=sys.stderr)
    known = Linter().codes
    only: str | None = options.only
    codes = frozenset(only.split(",")) if only else known
    if codes - known:
        parser.error(f"no such rule: {', '.join(sorted(codes - known))}")
    chosen = (place for place in places(options.cache) if options.of in f"{place.origin} {place.path.as_posix()}")
    # The pair of rules on half precision is judged together.
    halves = frozenset({precision.AUTOCAST, precision.ON_CPU})
    linter = Linter(codes | halves if codes & halves else codes)
    results = list(run(linter, chosen, codes, options.limit))
    if options.json:
        print(as_json(results))
        return 0
    for miss in misses(results):
        print(miss, end="\n\n")
    print(table(results))
    if linter.crashes:
        print(f"{len(linter.crashes)} crashes, the first:\n{linter.crashes[0].traceback}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
