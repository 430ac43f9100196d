"""What the abstract interpreter knows, and above all what it admits not to know."""

from __future__ import annotations

import gc
import weakref
from textwrap import dedent, indent

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, UNKNOWN, YES, Call, Facts, Stopped, Truth
from llm_lsp.facts.heads import ModelLoad
from llm_lsp.source import Source

MODEL = """
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModel.from_pretrained("gpt2")
"""


def facts_of(code: str, *, notebook: bool = False) -> Facts:
    del notebook
    source = Source.from_text("example.py", dedent(code))
    with ExampleWorld({}, {}, {}) as world:
        return Facts(source, world)


def forwards(code: str) -> list[Call]:
    return list(facts_of(code).forwards())


def gradients(code: str) -> list[Truth]:
    return [call.gradients for call in forwards(MODEL + dedent(code))]


# ---------------------------------------------------------------- contexts


@pytest.mark.parametrize(
    "block",
    [
        "with torch.no_grad():",
        "with torch.inference_mode():",
        "with torch.set_grad_enabled(False):",
        "with torch.no_grad(), torch.autocast('cuda'):",
        "with open('x') as handle, torch.no_grad():",
    ],
)
def test_a_block_that_switches_gradients_off_is_seen(block: str) -> None:
    assert gradients(f"{block}\n    model(1)\nmodel(2)") == [NO, YES]


@pytest.mark.parametrize(
    "block",
    [
        "with torch.set_grad_enabled(phase()):",
        "with torch.no_grad() if fast() else torch.enable_grad():",
        "import contextlib\nwith contextlib.nullcontext() if fast() else torch.no_grad():",
        "from project import quiet\nwith quiet():",
    ],
)
def test_a_block_that_may_switch_gradients_off_leaves_them_unknown(block: str) -> None:
    assert gradients(f"{block}\n    model(1)") == [UNKNOWN]


OWN_CONTEXTS = """
import contextlib
class Quiet:
    def __enter__(self):
        torch.set_grad_enabled(False)
    def __exit__(self, *error):
        torch.set_grad_enabled(True)
class Derived(torch.no_grad):
    pass
@contextlib.contextmanager
def evaluating(module):
    with torch.inference_mode():
        yield module
@contextlib.contextmanager
def timed():
    print("begin")
    yield
    print("end")
"""


@pytest.mark.parametrize(
    ("block", "inside"),
    [
        ("with Quiet():", NO),
        ("with Derived():", NO),
        ("with evaluating(model):", NO),
        ("with timed():", YES),
        ("with timed(), torch.no_grad():", NO),
    ],
)
def test_a_context_of_the_program_switches_what_its_body_switches(block: str, inside: Truth) -> None:
    assert gradients(f"{OWN_CONTEXTS}{block}\n    model(1)\nmodel(2)") == [inside, YES]


def test_what_a_context_of_the_program_yields_is_what_the_block_binds() -> None:
    assert gradients(f"{OWN_CONTEXTS}with evaluating(model) as inner:\n    inner(1)") == [NO]


def test_a_context_on_an_exit_stack_holds_as_long_as_the_stack() -> None:
    code = """
    from contextlib import ExitStack
    with ExitStack() as stack:
        model(1)
        stack.enter_context(torch.no_grad())
        model(2)
    model(3)
    """
    assert gradients(code) == [YES, NO, YES]


def test_a_context_that_is_entered_by_hand_stays_entered() -> None:
    assert gradients("torch.no_grad().__enter__()\nmodel(1)") == [NO]


OWN_DECORATORS = """
import functools
def quiet(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with torch.no_grad():
            return function(*args, **kwargs)
    return wrapper
def timed(function):
    def wrapper(*args, **kwargs):
        print(function.__name__)
        return function(*args, **kwargs)
    return wrapper
"""


@pytest.mark.parametrize(("decorator", "inside"), [("quiet", NO), ("timed", YES)])
def test_what_a_decorator_of_the_program_wraps_around_a_method_holds_in_it(decorator: str, inside: Truth) -> None:
    code = f"""{OWN_DECORATORS}
class Scorer:
    @{decorator}
    def score(self, batch):
        return model(batch).logits
"""
    assert gradients(code) == [inside]


def test_a_function_that_an_unseen_wrapper_holds_back_runs_where_nobody_knows() -> None:
    code = """
    def registered(function):
        table[function.__name__] = function
        return lambda: run_later(function.__name__)
    @registered
    def score(batch):
        return model(batch).logits
    """
    assert gradients(code) == [UNKNOWN]


@pytest.mark.parametrize(
    ("call", "inside"),
    [
        ("gradio.Interface(lambda text: score(text))", YES),
        ("gradio.Interface(score)", YES),
        ("with torch.no_grad():\n    gradio.Interface(lambda text: score(text))", UNKNOWN),
        ("with torch.no_grad():\n    retry(lambda: score('x'))", UNKNOWN),
        ("torch.multiprocessing.Process(target=score)", YES),
        ("torch.func.vmap(score)", UNKNOWN),
    ],
)
def test_what_is_handed_over_runs_as_whoever_gets_it_calls_it(call: str, inside: Truth) -> None:
    code = f"import gradio\nfrom project import retry\ndef score(text):\n    return model(text).logits\n{call}"
    assert gradients(code) == [inside]


def test_a_method_that_is_handed_over_in_a_block_runs_where_nobody_knows() -> None:
    code = """
    from project import run
    class Scorer:
        def score(self, batch):
            return model(batch).logits
        def all(self, batches):
            with torch.no_grad():
                return run(self.score, batches)
    """
    assert gradients(code) == [UNKNOWN]


def test_a_function_inside_a_function_that_nobody_calls_finds_its_variables() -> None:
    code = """
    def application():
        inner = AutoModel.from_pretrained("gpt2")
        def answer(batch):
            return inner(batch).logits
        return answer
    """
    assert [call.callee for call in forwards(MODEL + dedent(code))] == ["inner"]


@pytest.mark.parametrize(
    "order", ["max(texts, key=lambda text: score(text))", "sorted(texts, key=score)", "texts.sort(key=score)"]
)
def test_what_orders_is_called_in_the_context_of_the_ordering(order: str) -> None:
    code = f"""
    texts = ["a", "b"]
    def score(text):
        return model(text).logits.max().item()
    with torch.no_grad():
        {order}
    """
    assert gradients(code) == [NO]


def test_methods_that_are_looked_up_by_a_name_from_outside_run_where_nobody_knows() -> None:
    code = """
    class Scorer:
        def score(self, batch):
            return model(batch).logits
        def run(self, name, batch):
            with torch.no_grad():
                return getattr(self, name)(batch)
    """
    assert gradients(code) == [UNKNOWN]


def test_a_decorator_that_replaces_methods_of_a_class_leaves_gradients_unknown() -> None:
    code = """
    def quiet(cls):
        for name, member in vars(cls).items():
            setattr(cls, name, torch.no_grad()(member))
        return cls
    @quiet
    class Scorer:
        def score(self, batch):
            return model(batch).logits
    """
    assert gradients(code) == [UNKNOWN]


@pytest.mark.parametrize(
    "line",
    [
        "from project import freeze\nfreeze(model)",
        "model.apply(lambda part: part.requires_grad_(False))",
        "for part in model.children():\n    part.requires_grad_(False)",
    ],
)
def test_a_model_that_may_be_frozen_may_need_no_gradients(line: str) -> None:
    assert forwards(f"{MODEL}{line}\nmodel(1)")[-1].model_needs_gradients is UNKNOWN


def test_models_of_other_frameworks_need_no_gradients() -> None:
    code = "from transformers import TFAutoModel\nmodel = TFAutoModel.from_pretrained('gpt2')\nmodel(1)"
    assert forwards(code)[0].model_needs_gradients is NO


@pytest.mark.parametrize("name", ["loss", "contrastive_loss", "objective"])
def test_what_the_program_computes_gradients_of_elsewhere_is_not_only_returned(name: str) -> None:
    code = f"""
class Objective:
    def {name}(self, batch):
        return model(batch).loss

class Runner:
    def fit(self, task, batch):
        task.objective(batch).backward()
"""
    assert forwards(MODEL + code)[0].is_only_returned is NO


def test_what_is_written_into_a_tensor_goes_on_unseen() -> None:
    assert forwards(f"{MODEL}buffer = torch.zeros(4)\nbuffer.copy_(model(1))")[0].reaches_gradient is UNKNOWN


def test_an_override_runs_where_a_base_class_may_call_it() -> None:
    code = """
    class Task:
        def all(self, batches):
            with torch.no_grad():
                return [self.score(batch) for batch in batches]
        def score(self, batch):
            raise NotImplementedError
    class Perplexity(Task):
        def score(self, batch):
            return model(batch).logits
        def other(self, batch):
            return model(batch).logits
    """
    found = {call.function_names[0]: call.gradients for call in forwards(MODEL + dedent(code))}
    assert found == {"score": UNKNOWN, "other": YES}


def test_an_instance_that_orders_is_called_in_the_context_of_the_ordering() -> None:
    code = """
    class Scorer:
        def __call__(self, text):
            return model(text).logits.max().item()
    scorer = Scorer()
    with torch.no_grad():
        sorted(["a", "b"], key=scorer)
    """
    assert gradients(code) == [NO]


def test_a_forward_with_gradients_is_one_of_two_choices() -> None:
    code = """
    def features(batch, tuning):
        if tuning:
            return model(batch)
        with torch.no_grad():
            return model(batch)
    def other(batch, tuning):
        if tuning:
            print(batch)
        return model(batch)
    """
    assert [call.is_the_other_choice for call in forwards(MODEL + dedent(code))] == [True, False, False]


@pytest.mark.parametrize("made", ["zoo.create('vit').eval()", "torch.load('vit.pt', weights_only=False).eval()"])
def test_what_something_unseen_makes_is_a_model_if_it_is_put_to_evaluation_and_called(made: str) -> None:
    assert [call.callee for call in forwards(f"import torch, zoo\nnet = {made}\nnet(1)")] == ["net"]


def test_a_mode_that_only_a_branch_sets_is_not_known_behind_it() -> None:
    code = """
    def features(net, batch, training):
        if not training:
            net.eval()
        return net(batch)
    def outputs(net, batch):
        net.eval()
        return net(batch)
    """
    assert [call.is_in_evaluation_mode for call in forwards(code)] == [UNKNOWN, YES]


def test_a_module_that_carries_its_state_keeps_it_known() -> None:
    code = """
    def decode(cell, state):
        cell.eval()
        for _ in range(9):
            logits, state = cell(logits, state)
            print(logits.argmax(-1).item())
    """
    assert [call.reaches_gradient for call in forwards(MODEL + dedent(code))] == [NO]


def test_a_statement_that_switches_gradients_holds_until_the_next() -> None:
    assert gradients("torch.set_grad_enabled(False)\nmodel(1)\ntorch.set_grad_enabled(True)\nmodel(2)") == [NO, YES]


def test_enabling_inside_a_disabled_block_counts() -> None:
    assert gradients("with torch.no_grad():\n    with torch.enable_grad():\n        model(1)\n    model(2)") == [
        YES,
        NO,
    ]


@pytest.mark.parametrize("decorator", ["torch.no_grad()", "torch.no_grad", "torch.inference_mode()"])
def test_a_decorator_that_switches_gradients_off_reaches_what_is_called(decorator: str) -> None:
    code = f"""
    def helper():
        return model(1)
    @{decorator}
    def evaluate():
        return helper()
    evaluate()
    """
    assert gradients(code) == [NO]


def test_an_unknown_decorator_makes_the_context_unknown_not_absent() -> None:
    assert gradients("from project import traced\n@traced\ndef f():\n    model(1)\n") == [UNKNOWN]


def test_one_helper_under_no_grad_and_outside_is_two_contexts() -> None:
    code = """
    def helper(x):
        return model(x)
    with torch.no_grad():
        helper(1)
    helper(2)
    """
    assert gradients(code) == [NO, YES]


def test_a_library_calls_the_prediction_step_with_gradients_off() -> None:
    code = """
    import lightning as L
    class Module(L.LightningModule):
        def __init__(self):
            self.net = AutoModel.from_pretrained("gpt2")
        def validation_step(self, batch, index):
            self.net(batch)
        def training_step(self, batch, index):
            self.net(batch)
    """
    assert sorted(truth.value for truth in gradients(code)) == ["no", "yes"]


# ---------------------------------------------------------------- where results go


def reaches(code: str) -> list[Truth]:
    return [call.reaches_gradient for call in forwards(MODEL + dedent(code))]


@pytest.mark.parametrize(
    "use",
    [
        "out.loss.backward()",
        "accelerator.backward(out.loss)",
        "scaler.scale(out.loss / 4).backward()",
        "torch.autograd.grad(out.loss, [x])",
        "loss = criterion(out.logits, y)\nloss.backward()",
        "losses = []\nlosses.append(out.loss)\nsum(losses).backward()",
        "parts = {'a': out.loss}\nparts['a'].backward()",
    ],
)
def test_a_result_that_gradients_are_computed_of_is_followed(use: str) -> None:
    assert reaches(f"from torch.nn import CrossEntropyLoss\ncriterion = CrossEntropyLoss()\nout = model(1)\n{use}") == [
        YES
    ]


@pytest.mark.parametrize(
    "use", ["print(out.logits.argmax(-1))", "total = out.loss.item()\ntotal2 = torch.tensor(total)\ntotal2.backward()"]
)
def test_nothing_differentiable_leaves_by_a_number(use: str) -> None:
    assert reaches(f"out = model(1)\n{use}") == [NO]


@pytest.mark.parametrize(
    "use",
    [
        "from project import learn\nlearn(out)",
        "import project\nproject.box.loss = out",
        "f = lambda: out\nstore(f, out)",
    ],
)
def test_what_is_given_to_unknown_code_has_an_unknown_fate(use: str) -> None:
    assert reaches(f"out = model(1)\n{use}") == [UNKNOWN]


def test_a_loss_summed_over_a_loop_and_stepped_on_after_it_is_followed() -> None:
    code = """
    total = 0
    for batch in range(3):
        total = total + model(batch).loss
    total.backward()
    """
    assert reaches(code) == [YES]


def test_the_loss_of_the_round_before_is_followed() -> None:
    code = """
    before = None
    for batch in range(3):
        if before is not None:
            before.backward()
        before = model(batch).loss
    """
    assert reaches(code) == [YES]


# ---------------------------------------------------------------- objects and kinds


def test_two_builds_with_the_same_argument_are_two_objects() -> None:
    code = """
    def build(name):
        return AutoModel.from_pretrained(name)
    student, teacher = build("gpt2"), build("gpt2")
    student.train()
    teacher(1)
    student(1)
    """
    first, second = forwards(MODEL + dedent(code))
    assert first.is_in_evaluation_mode is YES
    assert second.is_in_evaluation_mode is NO


@pytest.mark.parametrize(
    "wrap",
    [
        "torch.nn.parallel.DistributedDataParallel(model)",
        "torch.compile(model)",
        "model.to('cuda').eval()",
        "accelerator.prepare(model)",
        "torch.nn.DataParallel(model).module",
    ],
)
def test_a_wrapped_model_is_the_model(wrap: str) -> None:
    code = MODEL + f"from accelerate import Accelerator\naccelerator = Accelerator()\nwrapped = {wrap}\nwrapped(1)"
    (call,) = forwards(code)
    assert call.model is not None
    assert call.model.name == "gpt2"


def test_a_parameter_is_a_model_by_two_uses_and_not_by_one() -> None:
    assert forwards("def f(thing, x):\n    thing(x)") == []
    assert forwards("def f(thing, x):\n    thing.eval()") == []
    assert len(forwards("def f(thing, x):\n    thing.eval()\n    return thing(x)")) == 1


def test_an_attribute_set_outside_the_initialiser_is_known_to_the_other_methods() -> None:
    code = """
    class Runner:
        def setup(self):
            self.net = AutoModel.from_pretrained("gpt2")
        def run(self, x):
            return self.net(x)
    """
    assert len(forwards(MODEL + dedent(code))) == 1


def test_modes_that_differ_between_branches_are_unknown_where_they_meet() -> None:
    code = "if flag():\n    model.train()\nmodel(1)"
    (call,) = forwards(MODEL + code)
    assert call.is_in_evaluation_mode is UNKNOWN


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    "expression",
    [
        "'gpt' + '2'",
        "f'gpt{2}'",
        "'gpt%d' % 2",
        "'gpt{}'.format(2)",
        "{'name': 'gpt2'}['name']",
        "CONFIG['model']['name']",
        "Config().name",
        "NAMES[0]",
        "args.name",
        "(lambda: 'gpt2')()",
        "os.environ.get('NAME', 'gpt2')",
    ],
)
def test_a_name_is_known_however_it_is_made(expression: str) -> None:
    code = f"""
    import argparse, os
    from dataclasses import dataclass
    from transformers import AutoModel
    CONFIG = {{"model": {{"name": "gpt2"}}}}
    NAMES = ["gpt2", "bert"]
    @dataclass
    class Config:
        name: str = "gpt2"
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="gpt2")
    args = parser.parse_args()
    model = AutoModel.from_pretrained({expression})
    model(1)
    """
    (call,) = forwards(code)
    assert call.model is not None
    assert call.model.name == "gpt2"


@pytest.mark.parametrize("expression", ["input()", "sys.argv[1]", "'gpt' + size", "load_name()", "NAMES[index]"])
def test_a_name_that_is_not_known_is_not_guessed(expression: str) -> None:
    code = f"""
    import sys
    from transformers import AutoModel
    from project import size, load_name, index
    NAMES = [load_name(), "gpt2"]
    model = AutoModel.from_pretrained({expression})
    model(1)
    """
    (call,) = forwards(code)
    assert call.model is None


def test_two_states_chosen_by_one_test_do_not_mix() -> None:
    code = """
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    dtype = torch.float16 if gpu else torch.float32
    net = AutoModel.from_pretrained("gpt2", dtype=dtype).to(device)
    net(1)
    """
    (call,) = forwards(MODEL + dedent(code))
    half = next(choice for choice in call.states("dtype") if choice.value == "float16")
    assert [where.value for where in call.devices() if where.agrees_with(half)] == ["cuda"]


# ---------------------------------------------------------------- absence


def seeded(code: str) -> list[tuple[str, Truth]]:
    return [(generator.library, generator.is_seeded) for generator in facts_of(code).generators()]


@pytest.mark.parametrize(
    ("before", "truth"),
    [
        ("", NO),
        ("random.seed(0)", YES),
        ("random.seed(args.seed)", YES),
        ("from project import start\nstart()", UNKNOWN),
        ("from project import *", UNKNOWN),
        ("exec('random.seed(0)')", UNKNOWN),
        ("random.seed(", UNKNOWN),
    ],
)
def test_never_seeded_is_said_only_if_nothing_could_have_seeded(before: str, truth: Truth) -> None:
    assert seeded(f"import random\n{before}\nrandom.random()\n") == [("Python", truth)]


def test_a_half_typed_seed_never_shows_its_absence() -> None:
    typed = "torch.manual_seed(0)"
    for end in range(1, len(typed)):
        code = f"import torch\n{typed[:end]}\nx = torch.randn(2)\nx.sum().backward()\n"
        assert all(truth is not NO for _, truth in seeded(code)) or end <= len("torch.manual_seed"), code


# ---------------------------------------------------------------- the machine itself


def test_stop_is_asked_and_obeyed() -> None:
    source = Source.from_text("example.py", "x = 1\n" * 2_000)
    with ExampleWorld({}, {}, {}) as world, pytest.raises(Stopped):
        Facts(source, world, lambda: True)


def test_recursion_and_deep_chains_end() -> None:
    code = "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\n" + "".join(
        f"def h{n}(x):\n    h{n + 1}(x)\n    return h{n + 1}(x)\n" for n in range(40)
    )
    assert facts_of(code + "def h40(x):\n    return x\nh0(1)\nf(1)\n").machine.is_complete


def test_a_closed_file_leaves_no_garbage_behind() -> None:
    facts = facts_of(
        MODEL + "class A:\n    def f(self, x):\n        return model(x)\nA().f(1)\nprint([A for A in [1]])"
    )
    machine = weakref.ref(facts.machine)
    gc.disable()
    try:
        facts.close()
        del facts
        assert machine() is None
    finally:
        gc.enable()


def test_a_generator_made_under_no_grad_runs_where_it_is_consumed() -> None:
    code = """
    def answers(lines):
        for line in lines:
            yield model(line)
    with torch.no_grad():
        inside = [answer for answer in answers(["a"])]
        later = answers(["a"])
    for answer in later:
        print(answer)
    """
    assert gradients(code) == [NO, YES]


def test_a_generator_made_under_no_grad_and_given_away_is_unknown() -> None:
    code = """
    def answers(lines):
        for line in lines:
            yield model(line)
    with torch.no_grad():
        keep(answers(["a"]))
    """
    assert gradients(code) == [UNKNOWN]


# ---------------------------------------------------------------- across files

ENGINE = "def score(model, batch):\n    model.eval()\n    return model(batch)\n"


def among(files: dict[str, str], path: str) -> Facts:
    program = {name: dedent(text) for name, text in files.items()}
    with ExampleWorld(program, {}, {}) as world:
        return Facts(world.sources[path], world)


@pytest.mark.parametrize(
    ("caller", "truth"),
    [
        ("from engine import score\nimport torch\nwith torch.no_grad():\n    score(m, 1)", NO),
        ("from engine import score\nscore(m, 1)", YES),
        ("import engine\nimport torch\ndef run(m):\n    with torch.no_grad():\n        engine.score(m, 1)", NO),
        ("from engine import score\nimport torch\nscore(m, 1)\nwith torch.no_grad():\n    score(m, 2)", YES),
        ("import engine\nrun_later('score')", UNKNOWN),
        ("import engine", YES),
    ],
)
def test_another_module_decides_the_context_of_what_it_calls(caller: str, truth: Truth) -> None:
    (call,) = among({"engine.py": ENGINE, "main.py": caller}, "engine.py").forwards()
    assert call.gradients_for_callers is truth


def test_a_constant_of_another_module_is_known() -> None:
    main = """
    import config
    from transformers import AutoModel
    model = AutoModel.from_pretrained(config.NAME)
    model(1)
    """
    (call,) = among({"config.py": "import os\nNAME = 'gpt2'\n", "main.py": main}, "main.py").forwards()
    assert call.model is not None
    assert call.model.name == "gpt2"


@pytest.mark.parametrize(
    ("helper", "truth"),
    [
        ("import random\ndef start(n):\n    random.seed(n)\n", YES),
        ("def start(n):\n    print(n)\n", NO),
        ("from other import seed_everything as start\n", UNKNOWN),
    ],
)
def test_a_seed_is_seen_in_another_module(helper: str, truth: Truth) -> None:
    main = "import random\nfrom tools.seeds import start\nstart(1)\nrandom.random()\n"
    facts = among({"tools/seeds.py": helper, "main.py": main}, "main.py")
    assert [(g.library, g.is_seeded) for g in facts.generators()] == [("Python", truth)]


def test_a_circle_of_imports_ends() -> None:
    files = {"a.py": "from b import g\ndef f(): return g()\nf()\n", "b.py": "from a import f\ndef g(): return f()\n"}
    assert among(files, "a.py").machine.is_complete


# ---------------------------------------------------------------- attention maps


def maps_of(*, load: str = 'BertModel.from_pretrained("runs/bert")', then: str = "") -> list[tuple[Truth, Truth]]:
    """Whether the model has maps, and whether they are read, of each call that asks for them."""
    code = "from transformers import AutoModel, BertModel, XLNetModel\n"
    code += f"model = {load}\n{then}\nprint(model(ids, output_attentions=True).attentions)\n"
    return [(request.has_maps, request.is_read) for request in facts_of(code).attention_requests()]


@pytest.mark.parametrize(
    ("load", "has_maps"),
    [
        ('BertModel.from_pretrained("runs/bert")', NO),
        ('AutoModel.from_pretrained("gpt2")', NO),
        ('AutoModel.from_pretrained("nobody/knows", attn_implementation="flash_attention_2")', NO),
        ('XLNetModel.from_pretrained("runs/xlnet")', YES),
        ('AutoModel.from_pretrained("nobody/knows")', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", attn_implementation=chosen)', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", attn_implementation="eager")', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", config=config)', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", output_attentions=True)', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", trust_remote_code=True)', UNKNOWN),
        ('AutoModel.from_pretrained("gpt2", **settings)', UNKNOWN),
    ],
)
def test_whether_a_model_computes_attention_maps_is_said_where_it_is_loaded(load: str, has_maps: Truth) -> None:
    assert maps_of(load=load) == [(has_maps, YES)]


@pytest.mark.parametrize(
    "then",
    [
        'model.set_attn_implementation("eager")',
        'model.config._attn_implementation = "eager"',
        'model.config.update({"_attn_implementation": "eager"})',
        "from project import prepare\nprepare(model)",
    ],
)
def test_what_else_may_choose_the_attention_makes_it_unknown(then: str) -> None:
    assert maps_of(then=then) == [(UNKNOWN, YES)]


@pytest.mark.parametrize(
    ("use", "is_read"),
    [
        ("print(out.attentions[0])", YES),
        ('print(out["cross_attentions"])', YES),
        ("print(out[-1])", YES),
        ("print(getattr(out, 'attentions'))", YES),
        ("print(out.hidden_states[-1])", UNKNOWN),
        ("print(out)", UNKNOWN),
        ("print(out.logits[:, -1])", UNKNOWN),
    ],
)
def test_attention_maps_are_read_where_the_output_is_asked_for_them(use: str, is_read: Truth) -> None:
    code = 'from transformers import AutoModel\nmodel = AutoModel.from_pretrained("gpt2")\n'
    code += f"out = model(ids, output_attentions=True)\n{use}\n"
    assert [request.is_read for request in facts_of(code).attention_requests()] == [is_read]


@pytest.mark.parametrize("asked", ["False", "None", "flag", "args.attentions"])
def test_attention_maps_that_may_not_be_asked_for_are_no_request(asked: str) -> None:
    code = f'from transformers import AutoModel\nAutoModel.from_pretrained("gpt2")(ids, output_attentions={asked})\n'
    assert list(facts_of(code).attention_requests()) == []


# ---------------------------------------------------------------- heads


def load_in(code: str) -> ModelLoad:
    (load,) = facts_of(code).model_loads()
    return load


@pytest.mark.parametrize(
    ("cls", "name", "truth"),
    [
        ("AutoModelForSeq2SeqLM", "distilbert-base-uncased", NO),
        ("AutoModelForCausalLM", "t5-small", NO),
        ("AutoModelForCausalLM", "gpt2", YES),
        ("AutoModelForCausalLM", "nobody/knows", UNKNOWN),
        ("AutoModel", "gpt2", UNKNOWN),
        ("BertForMaskedLM", "gpt2", UNKNOWN),
    ],
)
def test_whether_an_auto_class_takes_a_checkpoint_follows_from_its_type(cls: str, name: str, truth: Truth) -> None:
    assert load_in(f'from transformers import {cls}\n{cls}.from_pretrained("{name}")\n').type_is_taken is truth


@pytest.mark.parametrize(
    "code",
    [
        'AutoModelForCausalLM.from_pretrained("t5-small", trust_remote_code=True)',
        'AutoModelForCausalLM.from_pretrained("t5-small", config=config)',
        'AutoModelForCausalLM.from_pretrained("t5-small", **settings)',
        'if "t5" not in model_name:\n    AutoModelForCausalLM.from_pretrained("t5-small")',
        'try:\n    AutoModelForCausalLM.from_pretrained("t5-small")\nexcept ValueError:\n    pass',
        'cls = AutoModelForCausalLM\ncls.from_pretrained("t5-small")',
    ],
)
def test_what_else_may_say_what_a_checkpoint_is_makes_its_class_unknown(code: str) -> None:
    assert load_in(f"from transformers import AutoModelForCausalLM\n{code}\n").type_is_taken is UNKNOWN


@pytest.mark.parametrize(
    ("cls", "name", "truth"),
    [
        ("AutoModelForSequenceClassification", "bert-base-uncased", YES),
        ("BertForTokenClassification", "bert-base-uncased", YES),
        ("AutoModelForSequenceClassification", "distilbert-base-uncased-finetuned-sst-2-english", NO),
        ("AutoModelForMaskedLM", "bert-base-uncased", UNKNOWN),
        ("RobertaForTokenClassification", "bert-base-uncased", UNKNOWN),
        ("AutoModelForSequenceClassification", "nobody/knows", UNKNOWN),
    ],
)
def test_a_head_is_new_where_the_checkpoint_has_another_one(cls: str, name: str, truth: Truth) -> None:
    assert load_in(f'from transformers import {cls}\n{cls}.from_pretrained("{name}")\n').head_is_new is truth


@pytest.mark.parametrize(
    ("then", "truth"),
    [
        ("with torch.no_grad():\n    print(model(ids).logits.argmax(-1))", YES),
        ("print(model.eval().to('cuda')(ids).logits.argmax(-1).item())", YES),
        ("print(pipeline('ner', model=model)('Ada'))", YES),
        ("print(model.num_parameters())", UNKNOWN),
        ("model(ids, labels=labels).loss.backward()", UNKNOWN),
        ("model.load_state_dict(weights)\nprint(model(ids).logits.argmax(-1))", UNKNOWN),
        ("model.classifier.weight.copy_(weights)\nprint(model(ids).logits.argmax(-1))", UNKNOWN),
        ("Trainer(model=model).train()\nprint(model(ids).logits.argmax(-1))", UNKNOWN),
        ("class A:\n    pass\na = A()\na.model = model\nprint(model(ids).logits.argmax(-1))", UNKNOWN),
    ],
)
def test_a_model_only_infers_where_nothing_can_change_its_weights(then: str, truth: Truth) -> None:
    code = "import torch\nfrom transformers import AutoModelForTokenClassification, Trainer, pipeline\n"
    code += f'model = AutoModelForTokenClassification.from_pretrained("bert-base-uncased")\n{then}\n'
    assert load_in(code).only_infers is truth


def test_a_model_that_a_function_returns_may_be_trained_by_its_caller() -> None:
    code = """
    from transformers import AutoModelForTokenClassification
    def load():
        model = AutoModelForTokenClassification.from_pretrained("bert-base-uncased").eval()
        print(model(ids).logits.argmax(-1).item())
        return model, 1
    """
    assert load_in(dedent(code)).only_infers is UNKNOWN


# ---------------------------------------------------------------- rounds of a loop

FIT = """
import torch
from project import evaluate, save
def fit(model, optimizer, batches, held_out):
    for epoch in range(3):
        for batch in batches:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
"""


def kept(code: str) -> list[tuple[Truth, Truth]]:
    return [(mode.is_switched_back, mode.is_meant_to_train) for mode in facts_of(code).kept_modes()]


def test_a_model_is_left_in_evaluation_mode_for_the_next_round() -> None:
    assert kept(FIT) == [(NO, YES)]


@pytest.mark.parametrize("last", ["model.train()", "model.train(mode)"])
def test_a_round_that_ends_in_another_mode_leaves_none_behind(last: str) -> None:
    assert kept(f"{FIT}        {last}\n") == []


def test_a_switch_back_at_times_counts() -> None:
    assert kept(f"{FIT}        if epoch:\n            model.train()\n") == [(YES, YES)]


@pytest.mark.parametrize("last", ["evaluate(model, held_out)", "model.begin_training()", "print(evaluate(model))"])
def test_unknown_code_that_is_given_the_model_may_switch_it_back(last: str) -> None:
    assert kept(f"{FIT}        {last}\n") == [(UNKNOWN, YES)]


@pytest.mark.parametrize("last", ["save(model)", "model.save_pretrained('x')", "print(held_out)"])
def test_what_saves_or_prints_a_model_switches_no_mode(last: str) -> None:
    assert kept(f"{FIT}        {last}\n") == [(NO, YES)]


@pytest.mark.parametrize("last", ["break", "return model", "raise ValueError"])
def test_a_loop_that_is_left_keeps_no_mode(last: str) -> None:
    assert kept(f"{FIT}        {last}\n") == []


def test_a_masked_line_may_switch_the_mode_back() -> None:
    assert kept(f"{FIT}        model.tra in(\n") == [(UNKNOWN, YES)]


def test_evaluation_mode_that_comes_before_all_training_may_be_meant() -> None:
    code = "def attack(model, x, optimizer):\n    for step in range(3):\n        model.eval()\n"
    assert kept(code + "        model(x).mean().backward()\n        optimizer.step()\n") == [(NO, UNKNOWN)]


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("nn.Sequential(nn.Linear(2, 2), nn.ReLU())", YES),
        ("nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1))", NO),
        ("nn.Sequential(*layers())", NO),
        ("Net()", YES),
        ("Other()", NO),
    ],
)
def test_a_model_of_known_layers_may_compute_the_same_in_both_modes(layers: str, expected: Truth) -> None:
    code = f"""
    from torch import nn
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    class Other(Net):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.1)
    def fit(x, optimizer):
        net = {layers}
        while True:
            net(x).mean().backward()
            optimizer.step()
            net.eval()
    """
    assert [mode.is_the_same_in_both_modes for mode in facts_of(code).kept_modes()] == [expected]


LOADERS = """
import torch
from project import wrap
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler
sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
"""


def repeated(code: str) -> list[tuple[Truth, Truth]]:
    return [(each.repeats, each.epoch_is_set) for each in facts_of(LOADERS + dedent(code)).repeated_loaders()]


@pytest.mark.parametrize(
    "loop",
    [
        "for epoch in range(3):\n    for batch in loader: pass",
        "for epoch in range(3):\n    for i, batch in enumerate(loader): pass",
        "while True:\n    print([batch for batch in loader])",
        "from itertools import count\nfor epoch in count():\n    for batch in loader: pass",
        "while True:\n    batches = iter(loader)\n    next(batches)",
        "def endless(given):\n    while True:\n        yield from given\nendless(loader)",
        "own = DataLoader(data, batch_sampler=BatchSampler(sampler, 4, True))\nwhile True:\n    for batch in own: pass",
    ],
)
def test_a_loader_is_run_through_again_and_again(loop: str) -> None:
    assert repeated(loop) == [(YES, NO)]


@pytest.mark.parametrize(
    "loop",
    [
        "for batch in loader: pass",
        "for epoch in range(3):\n    for batch in wrap(loader): pass",
        "for epoch in range(3):\n    for batch in loader.dataset: pass",
    ],
)
def test_a_loader_that_is_run_through_once_or_by_something_else_is_not_repeated(loop: str) -> None:
    assert repeated(loop) == []


@pytest.mark.parametrize("loop", ["range(1)", "range(0, 1)"])
def test_one_round_repeats_nothing(loop: str) -> None:
    assert repeated(f"for epoch in {loop}:\n    for batch in loader: pass") == [(NO, NO)]


@pytest.mark.parametrize("loop", ["rates", "[1e-4, 1e-5]", "wrap(3)"])
def test_a_loop_over_other_things_may_be_meant_to_repeat(loop: str) -> None:
    assert repeated(f"for each in {loop}:\n    for batch in loader: pass") == [(UNKNOWN, NO)]


@pytest.mark.parametrize("tell", ["sampler.set_epoch(epoch)", "loader.sampler.set_epoch(epoch)"])
def test_a_sampler_is_told_the_epoch(tell: str) -> None:
    assert repeated(f"for epoch in range(3):\n    {tell}\n    for batch in loader: pass") == [(YES, YES)]


@pytest.mark.parametrize(
    "tell",
    [
        "wrap(sampler)",
        "wrap(loader, epoch)",
        "tell = getattr(loader.sampler, 'set_epoch')\n    tell(epoch)",
        "import (",
    ],
)
def test_a_sampler_that_goes_out_of_sight_may_be_told_the_epoch(tell: str) -> None:
    assert repeated(f"for epoch in range(3):\n    {tell}\n    for batch in loader: pass") == [(YES, UNKNOWN)]


def test_the_epoch_of_another_sampler_says_nothing_of_this_one() -> None:
    code = "other = DistributedSampler(more)\nfor epoch in range(3):\n    other.set_epoch(epoch)\n    for batch in loader: pass"
    assert repeated(code) == [(YES, NO)]


@pytest.mark.parametrize(("shuffle", "expected"), [("True", YES), ("False", NO), ("args.shuffle", UNKNOWN)])
def test_a_sampler_shuffles_unless_it_is_told_otherwise(shuffle: str, expected: Truth) -> None:
    code = f"own = DataLoader(data, sampler=DistributedSampler(data, shuffle={shuffle}))\nwhile True:\n    for x in own: pass"
    assert [each.is_shuffled for each in facts_of(LOADERS + code).repeated_loaders()] == [expected]


# ---------------------------------------------------------------- coroutines

SERVICE = """
import asyncio
from threading import Thread
from project import in_a_thread, serve
from transformers import pipeline
classify = pipeline("text-classification", model="ProsusAI/finbert")
def label(text):
    return classify(text)[0]
def labels(texts):
    for text in texts:
        yield classify(text)
@in_a_thread
def elsewhere(text):
    return classify(text)
"""


def blocking(body: str) -> list[str]:
    code = f"{SERVICE}async def answer(text):\n    {body}\n"
    return [each.callee for each in facts_of(code).blocking_inferences()]


@pytest.mark.parametrize(
    ("body", "callee"),
    [
        ("return classify(text)", "classify"),
        ("return label(text)", "label"),
        ("return [label(each) for each in text]", "label"),
        ("return list(labels(text))", "labels"),
        ("for each in labels(text):\n        print(each)", "labels"),
    ],
)
def test_a_coroutine_computes_with_a_model(body: str, callee: str) -> None:
    assert blocking(body) == [callee]


@pytest.mark.parametrize(
    "body",
    [
        "return await asyncio.to_thread(classify, text)",
        "return await asyncio.to_thread(label, text)",
        "return await asyncio.to_thread(lambda: classify(text))",
        "return await asyncio.get_running_loop().run_in_executor(None, classify, text)",
        "Thread(target=classify, args=(text,)).start()",
        "return labels(text)",
        "return await label(text)",
        "return elsewhere(text)",
        "return serve(classify, text)",
        "def work():\n        return classify(text)\n    return await asyncio.to_thread(work)",
    ],
)
def test_what_runs_elsewhere_or_later_does_not_block_a_coroutine(body: str) -> None:
    assert blocking(body) == []


@pytest.mark.parametrize(
    ("name", "expected"), [("answer", NO), ("warm_up", YES), ("load_all", YES), ("create_completion", NO)]
)
def test_a_coroutine_prepares_by_its_name(name: str, expected: Truth) -> None:
    facts = facts_of(f"{SERVICE}async def {name}(text):\n    classify(text)\n")
    assert [each.is_prepared for each in facts.blocking_inferences()] == [expected]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("", YES),
        ("asyncio.run(answer('a'))", UNKNOWN),
        ("async def main():\n    await asyncio.gather(answer('a'), answer('b'))\nasyncio.run(main())", YES),
    ],
)
def test_a_script_that_runs_one_coroutine_may_keep_nobody_waiting(start: str, expected: Truth) -> None:
    facts = facts_of(f"{SERVICE}async def answer(text):\n    classify(text)\n{start}\n")
    assert {each.keeps_others_waiting for each in facts.blocking_inferences()} == {expected}


# ---------------------------------------------------------------- labels


def labels_of(body: str) -> list[tuple[Truth, Truth]]:
    """Of each padded text that becomes labels: whether they reach a loss, and whether their padding is masked."""
    code = "import torch\n"
    code += "from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, default_data_collator\n"
    code += 'tokenizer = AutoTokenizer.from_pretrained("gpt2")\nmodel = AutoModelForCausalLM.from_pretrained("gpt2")\n'
    code += f"def f(texts, dataset):\n{indent(dedent(body), '    ')}\n"
    return [(labels.reaches_loss, labels.is_masked) for labels in facts_of(code).padded_labels()]


PADDED = 'batch = tokenizer(texts, padding=True, return_tensors="pt")\n'


@pytest.mark.parametrize(
    "use",
    [
        'model(**batch, labels=batch["input_ids"]).loss.backward()',
        "model(batch.input_ids, labels=batch.input_ids.clone().to(device)).loss.backward()",
        'batch["labels"] = batch["input_ids"].clone()\nmodel(**batch).loss.backward()',
        'item = {"input_ids": batch.input_ids, "labels": batch.input_ids}\nTrainer(model, train_dataset=[item]).train()',
        'model(labels=torch.tensor(batch["input_ids"])).loss.backward()',
    ],
)
def test_padded_ids_that_become_labels_are_seen(use: str) -> None:
    assert labels_of(PADDED + use) == [(YES, NO)]


@pytest.mark.parametrize(
    "mask",
    [
        "labels[labels == tokenizer.pad_token_id] = -100",
        "labels.masked_fill_(batch.attention_mask == 0, -100)",
        "labels[:, 0] = -100",
    ],
)
def test_labels_that_are_changed_in_place_may_be_masked(mask: str) -> None:
    body = f"{PADDED}labels = batch.input_ids.clone()\n{mask}\nmodel(**batch, labels=labels).loss.backward()"
    assert [masked for _, masked in labels_of(body)] in ([YES], [UNKNOWN])


@pytest.mark.parametrize(
    "before",
    ["from project import mask\nmask(batch.input_ids)", "criterion = torch.nn.CrossEntropyLoss(ignore_index=0)"],
)
def test_what_may_mask_labels_makes_it_unknown(before: str) -> None:
    use = "model(**batch, labels=batch.input_ids).loss.backward()"
    assert labels_of(f"{PADDED}{before}\n{use}") == [(YES, UNKNOWN)]


@pytest.mark.parametrize(
    "before",
    [
        "from transformers import DataCollatorForLanguageModeling\nDataCollatorForLanguageModeling(tokenizer)",
        "Trainer(model, data_collator=unknown)",
        "from trl import SFTTrainer\nSFTTrainer(model)",
    ],
)
def test_what_may_mask_the_labels_of_batches_makes_no_difference_to_labels_that_are_passed(before: str) -> None:
    kept = 'batch["labels"] = batch.input_ids\nmodel(**batch).loss.backward()'
    assert labels_of(f"{PADDED}{before}\n{kept}") == [(YES, UNKNOWN)]
    passed = "model(**batch, labels=batch.input_ids).loss.backward()"
    assert labels_of(f"{PADDED}{before}\n{passed}") == [(YES, NO)]


def test_labels_that_no_loss_is_seen_to_use_are_unknown() -> None:
    use = 'batch["labels"] = batch["input_ids"]\nprint(model.generate(batch["input_ids"]))'
    assert labels_of(PADDED + use) == [(UNKNOWN, NO)]


@pytest.mark.parametrize(
    "call",
    [
        "tokenizer(texts)",
        'tokenizer("one", padding=True)',
        "tokenizer(texts, padding=wanted)",
        "tokenizer(text, padding='longest')",
        "other(texts, padding=True)",
    ],
)
def test_what_may_not_be_padded_makes_no_padded_labels(call: str) -> None:
    assert labels_of(f"batch = {call}\nmodel(**batch, labels=batch.input_ids).loss.backward()") == []
