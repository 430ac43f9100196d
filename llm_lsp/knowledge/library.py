"""What the functions and classes of torch, transformers and their family do, as far as the rules ask.

Plain sets and dictionaries of qualified names: a module of literals is the quickest thing that Python loads.
Sources: the installed libraries' own code (torch 2.13 and 2.15, transformers 4.36 to 5.23, accelerate 1.15,
peft 0.21, sentence-transformers 5); what the name of a family of classes ends in is a convention of transformers
that its own auto-class tables keep.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

# ---------------------------------------------------------------- gradients and precision

GRADIENTS_OFF = frozenset(
    {
        "torch.no_grad",
        "torch.inference_mode",
        "torch.autograd.no_grad",
        "torch.autograd.inference_mode",
        "torch.autograd.grad_mode.no_grad",
        "torch.autograd.grad_mode.inference_mode",
    }
)
GRADIENTS_ON = frozenset({"torch.enable_grad", "torch.autograd.enable_grad", "torch.autograd.grad_mode.enable_grad"})
CONTEXTS_OF_TRAINING = frozenset({"accumulate", "no_sync", "autocast"})
"""Methods of accelerators, fabrics and wrapped models whose contexts leave gradients as they are."""
GRADIENTS_SET = frozenset(
    {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled"}
)
AUTOCAST = frozenset(
    {
        "torch.autocast",
        "torch.amp.autocast",
        "torch.cuda.amp.autocast",
        "torch.cpu.amp.autocast",
        "torch.amp.autocast_mode.autocast",
        "torch.cuda.amp.autocast_mode.autocast",
    }
)
SWITCHES = GRADIENTS_OFF | GRADIENTS_ON | GRADIENTS_SET | AUTOCAST
"""What switches gradients or autocast for a block, or for the function that it decorates."""
SCALERS = frozenset(
    {
        "torch.amp.GradScaler",
        "torch.cuda.amp.GradScaler",
        "torch.cpu.amp.GradScaler",
        "torch.cuda.amp.grad_scaler.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
        "torch.GradScaler",
        "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    }
)
METHODS_OF_SCALING = frozenset({"unscale_", "get_scale", "step", "update", "zero_grad"})
"""Methods of scalers and optimizers after which gradients are no longer, or may no longer be, what `scale` made of them."""
CLIPS = frozenset(
    f"torch.nn.utils.{name}"
    for name in (
        "clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grads_with_norm_", "clip_grad.clip_grad_norm_", "clip_grad.clip_grad_value_",
    )
)  # fmt: skip
"""Functions that make gradients smaller where they exceed a limit."""
NAMES_OF_LOSSES = ("loss", "crit")
"""Words in the names of callables whose result gradients pass."""

FLOAT_TYPES = {
    "torch.float16": "float16",
    "torch.half": "float16",
    "torch.bfloat16": "bfloat16",
    "torch.float32": "float32",
    "torch.float": "float32",
    "torch.float64": "float64",
    "torch.double": "float64",
}

DEFAULT_DEVICES = frozenset({"torch.set_default_device", "torch.set_default_tensor_type"})
"""Functions after which modules and tensors are made elsewhere than on the CPU."""

BACKWARD_METHODS = frozenset({"backward", "manual_backward"})
"""Methods, of whatever object, that compute gradients of the value or of their arguments: `Tensor.backward`,
`accelerator.backward`, `fabric.backward`, a DeepSpeed engine's, Lightning's `manual_backward`."""
BACKWARD_FUNCTIONS = frozenset({"torch.autograd.backward", "torch.autograd.grad", "torch.autograd.functional.jacobian"})

NOT_DIFFERENTIABLE = frozenset({
    "item", "tolist", "numpy", "detach", "detach_", "argmax", "argmin", "argsort", "long", "int", "bool", "byte", "eq", "ne", "lt", "le",
    "gt", "ge", "isnan", "isinf", "isfinite", "shape", "size", "dim", "ndim", "numel", "dtype", "device", "data", "multinomial",
    "nonzero", "sign", "round", "allclose", "equal", "any", "all", "data_ptr", "requires_grad", "is_cuda", "grad_fn", "grad",
})  # fmt: skip
"""Attributes, methods and functions of tensors that no gradient passes."""

TELLS_GRAPH = frozenset({"requires_grad", "grad_fn"})
"""Attributes by which a program looks at a graph: it means to have one."""

RESIZES = ("resize", "vocab", "embedding", "add_token", "special_token", "chat_format")
"""Words in the name of an unknown function that say that it may give a model other rows of embeddings."""
FREEZES = frozenset({"requires_grad_", "freeze", "freeze_model", "freeze_all", "freeze_params", "freeze_parameters"})
"""Methods after which a model's parameters may need no gradients."""
WITHOUT_AUTOGRAD = ("TF", "Flax")
"""What the names of transformers' classes for TensorFlow and JAX begin with: these build no graph by themselves."""
MAKES_CONTEXTS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
"""Decorators that make a context manager of a generator function."""

CHANGES = (
    "train", "eval", "resize_token_embeddings", "set_epoch", "seed", "manual_seed", "half", "bfloat16", "requires_grad_", "load_state_dict", "add_tokens",
)  # fmt: skip
"""Methods whose absence rules report: while somebody types one, nothing is absent."""

HARMLESS_METHODS = frozenset({
    "append", "extend", "add", "add_batch", "update", "log", "log_dict", "write", "writelines", "info", "debug", "warning", "error",
    "print", "set_postfix", "set_description", "compute", "add_scalar", "add_scalars", "put", "send", "insert", "setdefault", "save", "dump",
    "step", "reduce", "gather", "gather_for_metrics", "pad_across_processes", "set_postfix_str", "display", "record", "join", "format",
    "decode", "batch_decode", "post_process", "postprocess", "result",
})  # fmt: skip
"""Methods of unknown objects to which a result may be given without anybody calling `backward` on it there."""

CALLED_WITHOUT_BACKWARD = (
    "loss", "crit", "metric", "model", "net", "head", "encoder", "decoder", "embed", "proj", "norm", "dropout", "activation", "layer", "module",
    "classifier", "token", "accuracy", "collat", "scorer", "score_fn", "softmax", "sigmoid", "relu", "log", "print", "policy", "critic", "generator",
    "transform", "backbone", "block", "pool", "linear", "conv", "lm", "gpt", "bert", "attention", "mlp", "forward", "fc", "critic", "teacher", "student",
)  # fmt: skip
"""Words in the name of a callable parameter or attribute that say what it is: something that computes with a value, or
shows it, and does not itself call `backward`. Used only to keep a flow known, never to find a fault."""
COMPUTED_WITHOUT_BACKWARD = (
    "accuracy", "metric", "f1", "precision", "recall", "psnr", "ssim", "perplexity", "bleu", "rouge", "cross_entropy", "auc", "iou", "decode",
)  # fmt: skip
"""The same for functions of unknown modules."""
MAY_CALL_BACKWARD = ("scal", "backward", "optim", "step", "train", "update", "grad", "closure")
"""Words that take it back: timm's `loss_scaler(loss, optimizer, parameters=...)` calls `backward` and `step`."""

INFLUENCES = (
    "seed", "rand", "no_grad", "inference_mode", "grad_enabled", "enable_grad", "backward(", "from_pretrained", "pipeline(", "okenizer(", ".half(", "float16",
    "autocast", "truncation", "eval()", ".train(", "clip_grad", "padding_side", "add_tokens", "add_special_tokens(", "resize_token_embeddings",
)  # fmt: skip
"""Words of functions that can make a difference to what a rule asks about their callers."""
WORTH_ENTERING = (*INFLUENCES, "DistributedSampler", "self.total +=", "self.sum +=")
"""Words of functions of other modules, and of classes whose `__init__` is such a function, that are entered for it."""
COMPUTING_KINDS = frozenset({"model", "tokenizer", "fast tokenizer", "processor", "pipeline", "embedder"})
"""Kinds of objects with which a function of another module is entered whatever its text speaks of."""
WORTH_RUNNING = (
    *(word for word in INFLUENCES if word not in {"seed", "rand"}),
    *("model(", "net(", "encoder(", "decoder(", "generate(", "(**", "eval(", "train(", "labels", "attentions", "max_length", "async def"),
    *("set_epoch", "DistributedSampler", "loss +=", "+= loss", "cross_entropy(", "kl_div(", "nll_loss(", "softmax("),
    *("F.dropout", "functional.dropout", "dropout_p", "torch.load(", "register_backward_hook"),
    *("set_trace(", "breakpoint(", "num_workers", "def setup", "batch = next(", "yield next(", "for epoch in", "loader:", "step(", "optim.", "criterion("),
    *("use_reentrant", "recompute(", "torch.save(", "init_process_group", "Arguments(", "Trainer(", "label_ids", ".encode(", "lm(", "bert(", "messages.append("),
)  # fmt: skip
"""Words of functions that a rule may report on where nobody calls them; draws and seeds count only where somebody trains.

A rule that asks for what these don't show loses its reports in long modules, which `tests/test_rewrites.py` notices."""

COMPUTES = (".generate(", ".encode(", ".predict(", ".chat(", "model(", "net(", "pipe", "(**")
"""Words of functions that may keep a coroutine waiting that calls them."""

RUNS_WHAT_IT_IS_GIVEN = frozenset(
    {"map", "filter", "with_transform", "set_transform", "apply", "starmap", "imap", "imap_unordered", "step"}
)
"""Methods of datasets and pools that call the function they are given, once for each item, in the thread's own context;
`optimizer.step(closure)` does, too."""

STARTS_WHAT_IT_IS_GIVEN = frozenset(
    {"launch", "spawn", "start_processes", "submit", "run_in_executor", "to_thread", "add_task"}
)
"""Functions and methods that call the function they are given in a process or thread that has switched nothing yet, or
later in this one: gradients are then as torch begins, on."""

SUBMODULES = frozenset({
    "encoder", "decoder", "bert", "roberta", "distilbert", "deberta", "electra", "albert", "xlnet", "transformer", "vit", "model", "lm_head", "classifier",
    "embeddings", "vision_model", "text_model", "audio_encoder", "text_encoder", "language_model", "vision_tower", "wav2vec2", "gpt_neox", "wte", "score",
})  # fmt: skip
"""Attributes under which transformers' models keep modules that are called for a forward of their own."""
FORWARD_METHODS = frozenset({"get_image_features", "get_text_features", "get_audio_features", "get_video_features"})
STARTERS = {
    "threading.Thread": 1,
    "multiprocessing.Process": 1,
    "asyncio.to_thread": 0,
    "submit": 0,
    "run_in_executor": 1,
}
"""Functions, and methods of executors, that call what they are given, with the position of that argument."""
TAKES_A_TARGET = frozenset({"threading.Thread", "multiprocessing.Process"})
"""Those of them that are given its arguments as `args` and `kwargs`; the others get them as they follow."""
METHODS_TAKEN = frozenset({"generate", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template"})
"""Methods that programs take from a model or a tokenizer to call them later, or to have them called."""
ATTENTIONS = frozenset({"attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"})
"""Where a model's output has its attention maps."""
ADDS_TOKENS = frozenset({"add_tokens", "add_special_tokens"})
"""Methods by which a tokenizer's vocabulary grows."""
MAKES_PIECES = frozenset(
    {
        "view",
        "reshape",
        "split",
        "chunk",
        "unfold",
        "tensor_split",
        "array_split",
        "narrow",
        "index_select",
        "batched",
        "hsplit",
        "islice",
    }
)
"""Functions and methods, by their last names, that make pieces of a tensor or list of ids."""
SPECIAL_TOKENS = frozenset({
    "additional_special_tokens", "extra_special_tokens", "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
})  # fmt: skip
"""Arguments of a tokenizer's load that add to its vocabulary what is not in it."""
POSITIONS = ("max_position_embeddings", "n_positions")
"""What configurations call the number of positions."""
FEATURES = "transformers.BatchFeature"
INNER_TOKENIZER = "transformers.PreTrainedTokenizerBase"
"""The class of a processor's `tokenizer`."""
ENCODING = "transformers.BatchEncoding"
"""Ids of tokens, or what holds them."""
MASK = "transformers.BatchEncoding.attention_mask"
"""Whose sum is the number of tokens."""
KEEPS_IDS = frozenset({
    "torch.tensor", "torch.as_tensor", "torch.LongTensor", "torch.cat", "torch.stack", "torch.concat", "torch.hstack", "torch.clone", "torch.squeeze",
    "torch.nn.utils.rnn.pad_sequence", "torch.from_numpy", "numpy.array", "numpy.asarray", "numpy.concatenate", "copy.copy", "torch.nn.functional.pad",
    "builtins.list", "builtins.tuple", "builtins.zip", "builtins.enumerate", "builtins.reversed", "itertools.chain",
})  # fmt: skip
"""Functions whose result still holds the ids that went in."""
ID_METHODS = frozenset(
    {
        "squeeze",
        "unsqueeze",
        "flatten",
        "view",
        "reshape",
        "clone",
        "contiguous",
        "to",
        "cpu",
        "cuda",
        "tolist",
        "numpy",
        "long",
        "int",
        "copy",
        "detach",
        "expand",
        "repeat",
        "t",
        "tensor",
    }
)
"""Methods of a tensor of ids, or of an encoding, whose result holds the ids still."""
NOT_IDS = frozenset({
    "attention_mask", "token_type_ids", "offset_mapping", "special_tokens_mask", "overflow_to_sample_mapping", "num_truncated_tokens", "shape", "dtype",
    "device", "encodings",
})  # fmt: skip
"""What else an encoding holds."""
SPLITS = frozenset({
    "split_text", "split_documents", "create_documents", "sent_tokenize", "split_into_sentences", "chunks", "chunk_text", "chunked", "text_to_chunks", "sents",
    "wrap", "shorten", "get_nodes_from_documents", "segment", "chunk_by_title", "sliding_window", "split_text_on_tokens",
})  # fmt: skip
"""Functions and methods, by their last names, that take a text apart into pieces, or make it short enough."""
TAKES_APART = frozenset({
    "split", "rsplit", "splitlines", "replace", "removeprefix", "partition", "rpartition", "find", "index", "rfind", "rindex", "startswith", "lstrip", "sub",
    "search", "match", "findall", "fullmatch", "finditer",
})  # fmt: skip
"""Methods of texts, and functions of `re`, after which a part of a text may be gone."""
_PIECES = frozenset({"chunk", "chunks", "chunked", "chunking", "chunker", "sentences", "splitter", "windows", "pieces"})
_NOT_OF_TEXT = frozenset(
    {"dataset", "datasets", "data", "train", "batch", "batches", "loader", "rows", "model", "heads"}
)
MAKES_TOKENS = frozenset({"tokenize", "tokenizer", "encode", "encode_plus", "batch_encode_plus", "encode_ordinary"})
"""Methods, of whatever object, whose result's `len` is how many tokens a text has: a pipeline's `tokenizer`, tiktoken's `encode`."""
COLLECTIONS = frozenset({
    "load_dataset", "load_from_disk", "concatenate_datasets", "map", "filter", "select", "train_test_split", "readlines", "DataLoader", "read_csv", "read_json",
    "read_parquet", "glob", "listdir", "from_dict", "from_list", "from_pandas", "from_csv", "from_json", "random_split", "Subset", "load", "loads",
})  # fmt: skip
"""Functions and methods, by their last names, whose result's `len` is a number of things, not the length of a text."""
FLOAT_FEATURES = frozenset({"input_values", "input_features"})
"""What a speech processor returns in float32, and a model in half precision does not cast."""
PIXELS = frozenset({"pixel_values"})
FLOAT_INPUTS = FLOAT_FEATURES | PIXELS | {"inputs_embeds", "inputs", "input", "x", "features"}
"""Parameters of a forward whose values are multiplied with weights: no masks, no labels."""
CASTS_NO_FEATURES = frozenset({
    "resnet", "regnet", "convnext", "convnextv2", "swin", "swinv2", "segformer", "mobilevit", "wav2vec2", "hubert", "wavlm", "unispeech", "sew",
    "whisper", "speech_to_text", "audio-spectrogram-transformer",
})  # fmt: skip
"""Types of models that hand a processor's float32 features to their first layer as they are (read in transformers 5.23);
ViT, DeiT, DINOv2, CLIP and SigLIP cast their pixels."""
DICTIONARIES = frozenset({"collections.defaultdict", "collections.Counter", "collections.OrderedDict"})
"""Classes of dictionaries whose items are not followed one by one."""
DEBUGGERS = (
    "builtins.breakpoint", "pdb.set_trace", "pdb.post_mortem", "pdb.pm", "ipdb.set_trace", "ipdb.post_mortem", "pudb.set_trace", "pudb.post_mortem",
    "IPython.embed", "IPython.terminal.embed.embed", "IPython.core.debugger.set_trace", "debugpy.breakpoint", "debugpy.wait_for_client",
    "torch.distributed.breakpoint", "celery.contrib.rdb.set_trace", "web_pdb.set_trace", "remote_pdb.set_trace",
)  # fmt: skip
"""Functions that wait for somebody at the keyboard."""
OPTIONS = frozenset({"click.option", "click.argument"})
GROUP_DECORATORS = frozenset({"command", "group"})
"""By what a group of click's takes functions in: they are `click.command` and `click.group` for its own."""
FIELDS = frozenset(
    {"dataclasses.field", "attr.ib", "attrs.field", "attr.field", "pydantic.Field", "pydantic.fields.Field"}
)

FLOAT32 = "torch.Tensor.float"
"""The class of what `tensor.float()` returns, and of what it is joined to."""
JOINERS = frozenset({"torch.cat", "torch.concat", "torch.stack"})
FLOAT32_TENSORS = frozenset(
    {FLOAT32, "torch.randn", "torch.rand", "torch.zeros", "torch.ones", "torch.normal", "torch.linspace"}
)

# ---------------------------------------------------------------- losses, and what they take

_FUNCTIONAL = "torch.nn.functional"
LOSSES_OF_SCORES = {
    **dict.fromkeys((f"{_FUNCTIONAL}.cross_entropy", "torch.nn.CrossEntropyLoss"), "scores"),
    **dict.fromkeys((f"{_FUNCTIONAL}.binary_cross_entropy_with_logits", "torch.nn.BCEWithLogitsLoss"), "scores"),
    **dict.fromkeys((f"{_FUNCTIONAL}.nll_loss", "torch.nn.NLLLoss"), "logarithms"),
}
"""Losses to what they take first: scores, which they normalize themselves, or log-probabilities."""
DIVERGENCES = frozenset({f"{_FUNCTIONAL}.kl_div", "torch.nn.KLDivLoss"})
NORMALIZERS = {
    **dict.fromkeys(("softmax", "sigmoid", "Softmax", "Sigmoid", "expit"), "probabilities"),
    **dict.fromkeys(("log_softmax", "logsigmoid", "LogSoftmax", "LogSigmoid", "log"), "logarithms"),
}
"""Functions, methods and layers, by their last names, to what they make of scores; `log` of whatever it is given."""
FUNCTIONAL_DROPOUTS = tuple(f"{_FUNCTIONAL}.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"))
"""Functions that drop unless they are told that nobody trains (`alpha_dropout` is the other way round)."""
KEEPS_DISTRIBUTION = frozenset({
    "view", "reshape", "transpose", "permute", "squeeze", "unsqueeze", "contiguous", "float", "double", "half", "clone", "flatten", "t", "to", "cuda",
    "cpu", "expand", "clamp", "clip", "rearrange", "swapaxes", "movedim", "view_as", "type_as", "clamp_min",
})  # fmt: skip
"""Functions and methods whose result holds what it was, in another shape or type, or bounded."""

# ---------------------------------------------------------------- calls without effect on anything a rule asks about

NO_EFFECT_ROOTS = frozenset({
    "abc", "argparse", "ast", "asyncio", "base64", "bisect", "builtins", "bz2", "calendar", "codecs", "collections", "concurrent", "configparser",
    "contextlib", "copy", "csv", "ctypes", "dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "fractions", "functools", "gc", "getpass",
    "glob", "gzip", "hashlib", "heapq", "html", "http", "importlib", "inspect", "io", "itertools", "json", "linecache", "locale", "logging", "lzma",
    "math", "mimetypes", "multiprocessing", "numbers", "operator", "os", "pathlib", "pickle", "platform", "pprint", "queue", "random", "re",
    "resource", "shlex", "shutil", "signal", "site", "socket", "sqlite3", "ssl", "stat", "statistics", "string", "struct", "subprocess", "sys",
    "tarfile", "tempfile", "textwrap", "threading", "time", "timeit", "token", "tokenize", "tomllib", "traceback", "types", "typing", "unicodedata",
    "unittest", "urllib", "uuid", "warnings", "weakref", "xml", "zipfile", "zlib", "zoneinfo", "__future__",
    "absl", "aiohttp", "altair", "attr", "attrs", "bert_score", "bitsandbytes", "boto3", "bs4", "click", "cv2", "datasets", "deepspeed", "dotenv", "einops",
    "evaluate", "faiss", "fastapi", "fire", "flask", "gradio", "h5py", "httpx", "huggingface_hub", "hydra", "IPython", "jinja2", "joblib", "jsonlines",
    "jsonschema", "librosa", "loguru", "matplotlib", "mlflow", "msgpack", "nltk", "numpy", "omegaconf", "onnxruntime", "openai", "orjson", "packaging", "pandas",
    "peft", "PIL", "plotly", "psutil", "pyarrow", "pydantic", "pytest", "regex", "requests", "rich", "rouge", "rouge_score", "sacrebleu", "safetensors",
    "scipy", "seaborn", "sentencepiece", "sentence_transformers", "seqeval", "simple_parsing", "simplejson", "sklearn", "soundfile", "spacy",
    "starlette", "streamlit", "tabulate", "tensorboard", "tensorboardX", "termcolor", "tiktoken", "tokenizers", "toml", "torchaudio", "torchdata",
    "torchmetrics", "torchvision", "tqdm", "transformers", "accelerate", "trl", "diffusers", "typer", "typing_extensions", "ujson", "uvicorn", "wandb",
    "yaml", "zstandard", "torch", "lightning", "pytorch_lightning", "litgpt", "lm_eval", "vllm", "comet_ml", "neptune", "clearml", "swanlab",
    "bentoml", "ray", "datasketch", "langchain", "llama_index", "chromadb", "qdrant_client", "pinecone", "weaviate", "redis", "google", "azure",
})  # fmt: skip
"""Packages whose functions neither seed a generator, nor switch gradients, nor look at lengths, nor compute gradients,
unless another table here says so."""

LIBRARY_ROOTS = NO_EFFECT_ROOTS

# ---------------------------------------------------------------- kinds of classes

MODULE_BASES = frozenset(
    {"torch.nn.Module", "torch.nn.modules.Module", "torch.nn.modules.module.Module", "torch.jit.ScriptModule"}
)
LIGHTNING_BASES = frozenset(
    {
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
        "pytorch_lightning.LightningModule",
        "lightning.pytorch.core.LightningModule",
        "pytorch_lightning.core.lightning.LightningModule",
    }
)
GRADIENTS_OFF_HOOKS = frozenset({
    "validation_step", "test_step", "predict_step", "on_validation_epoch_end", "on_test_epoch_end", "validation_epoch_end",
    "test_epoch_end", "on_validation_batch_end", "on_validation_start", "on_predict_batch_end", "prediction_step",
    "evaluation_loop", "compute_metrics", "preprocess_logits_for_metrics", "_prediction_step", "on_test_batch_end", "_forward",
})  # fmt: skip
"""Overrides that their library calls with gradients off: Lightning's evaluation loop runs under `inference_mode`,
`Trainer.prediction_step` itself enters `no_grad` and calls `compute_metrics` on arrays, `Pipeline.forward` calls
`_forward` under `no_grad`."""
GRADIENTS_OFF_FUNCTIONS = frozenset({"compute_metrics", "preprocess_logits_for_metrics"})
"""Those of them that are handed over as plain functions."""
LOADER_HOOKS = frozenset({"train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader"})
"""Overrides whose loader their library itself runs through."""
DATASETS = frozenset({"torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset"})
"""Classes whose items go to a loader."""
GRADIENT_HOOKS = frozenset({"training_step", "compute_loss"})
"""Overrides whose result their library calls `backward` on."""

_PLACERS = frozenset(
    f"accelerate.{module}{name}"
    for module in ("", "big_modeling.")
    for name in ("dispatch_model", "cpu_offload", "disk_offload", "load_checkpoint_and_dispatch")
)
WRAPPERS = frozenset({
    "torch.compile", "torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.FSDP", "torch.distributed.fsdp.fully_shard",
    "peft.get_peft_model", "peft.PeftModel.from_pretrained", "peft.PeftModelForCausalLM.from_pretrained",
    "peft.prepare_model_for_kbit_training", "peft.inject_adapter_in_model", "peft.PeftMixedModel.from_pretrained",
    "torch.jit.optimize_for_inference", *_PLACERS,
})  # fmt: skip
"""Functions whose result stands for their first argument: another face of the same model, with the same vocabulary."""
ADAPTING = frozenset(name for name in WRAPPERS if name.startswith("peft."))
"""Those of them that freeze the model and train something beside it."""
MAKES_ADAPTERS = frozenset({"peft.get_peft_model", "peft.inject_adapter_in_model"})
"""Those whose adapters require gradients; `from_pretrained` loads adapters for inference unless it is told otherwise."""
SHARDS = frozenset({
    "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.FSDP", "torch.distributed.fsdp.fully_shard",
    "torch.distributed._composable.fsdp.fully_shard",
})  # fmt: skip
"""Functions that put other parameters in the place of a model's own; the first one not with `use_orig_params=True`."""
MOVES = frozenset({"to", "cuda"})
"""Methods of a module that may move its parameters, which stay the same objects."""
ASKS_FOR_PARAMETERS = frozenset({"parameters", "named_parameters"})
KEEPS_STATE_FROM_THE_START = frozenset({"torch.optim.Adagrad", "torch.optim.adagrad.Adagrad"})
"""Optimizers that make what they keep for each parameter when they are made, others do at the first step (torch 2.13)."""
UNLOADS_ADAPTERS = frozenset({"merge_and_unload", "unload"})
NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
"""Classes whose instances hold what the constructor is given, as attributes."""
ENGINES = frozenset({"vllm.LLM"})
"""Classes that load a model and a tokenizer by name and put them together."""
RUNS = {
    "()": frozenset({"model", "pipeline"}),
    "generate": frozenset({"model"}),
    "chat": frozenset({"model"}),
    "encode": frozenset({"embedder"}),
    "encode_query": frozenset({"embedder"}),
    "encode_document": frozenset({"embedder"}),
    "predict": frozenset({"embedder"}),
    "rank": frozenset({"embedder"}),
}
"""Methods that make something compute, with the kinds of things they do so with; "()" is a call of the thing itself."""
RUNS_OF_ENGINES = frozenset({"generate", "chat", "encode", "embed", "score", "classify", "beam_search"})
STARTS_TASKS = frozenset(
    {"create_task", "ensure_future", "gather", "TaskGroup", "as_completed", "wait", "start_server", "start_unix_server", "create_server", "start_soon", "serve"}
)  # fmt: skip
"""Functions and methods, by their last names, that make more than one task run in an event loop."""
PREPARING_DECORATORS = frozenset(
    {"asynccontextmanager", "contextmanager", "on_event", "on_startup", "on_shutdown", "fixture", "before_serving"}
)
_PREPARATIONS = (
    "setup", "startup", "start_up", "lifespan", "load", "init", "configure", "preload", "on_start", "shutdown", "aenter",
)  # fmt: skip


def prepares(function: str) -> bool:
    """Whether a function, by its name, prepares what others use, or warms it up."""
    name = function.strip("_").lower()
    return name.startswith(_PREPARATIONS) or any(word in name for word in ("warm", "startup", "lifespan"))


COPIES = frozenset({"copy.deepcopy", "copy.copy"})
ANSWERS = frozenset(
    {"answer", "reply", "response", "completion", "summary", "translation", "prediction", "assistant", "verdict"}
)
"""Keys under which programs keep what a model has answered."""
GENERATION_ARGUMENTS = frozenset({
    "attention_mask", "bad_words_ids", "bos_token_id", "do_sample", "early_stopping", "eos_token_id", "generation_config", "logits_processor", "max_new_tokens",
    "min_new_tokens", "no_repeat_ngram_size", "num_beams", "num_return_sequences", "pad_token_id", "repetition_penalty", "return_dict_in_generate",
    "stopping_criteria", "streamer", "use_cache",
})  # fmt: skip
"""Arguments by two of which a `generate` is known as transformers' own, whoever made the model."""
PREPARE_METHODS = frozenset({"prepare", "prepare_model", "unwrap_model", "setup", "unwrap", "setup_module"})
"""Methods of an accelerator or fabric that give their arguments back, wrapped."""
SAME_OBJECT_METHODS = frozenset({
    "to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16", "double", "requires_grad_", "merge_and_unload", "to_bettertransformer",
    "type", "to_empty", "share_memory", "compile", "base_model", "unload", "apply",
})  # fmt: skip
"""Methods of modules that return the module (`merge_and_unload` returns the base model, in place)."""
MODULE_METHODS = SAME_OBJECT_METHODS | frozenset({
    "generate", "state_dict", "load_state_dict", "parameters", "named_parameters", "modules", "named_modules", "children", "named_children",
    "buffers", "zero_grad", "save_pretrained", "push_to_hub", "resize_token_embeddings", "get_input_embeddings", "get_output_embeddings", "register_buffer",
    "register_parameter", "add_module", "register_forward_hook", "register_full_backward_hook", "gradient_checkpointing_enable", "tie_weights",
    "print_trainable_parameters", "enable_input_require_grads", "get_submodule", "num_parameters", "forward",
})  # fmt: skip

INDIFFERENT_TO_MODE = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear", "Bilinear", "Identity", "Embedding", "EmbeddingBag", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "LayerNorm",
        "RMSNorm", "GroupNorm", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "LeakyReLU", "ELU", "Softmax", "LogSoftmax", "Flatten", "Unflatten",
        "Parameter", "MaxPool1d", "MaxPool2d", "AvgPool1d", "AvgPool2d", "AdaptiveAvgPool1d",
        "AdaptiveAvgPool2d", "LSTMCell", "GRUCell", "RNNCell",
    )
)  # fmt: skip
"""Layers that compute the same in training and in evaluation mode."""
DIFFERS_BY_MODE: dict[str, tuple[str, int]] = {
    **{f"torch.nn.{name}": ("p", 0) for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")},
    **{f"torch.nn.{name}": ("", 0) for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "LazyBatchNorm1d", "LazyBatchNorm2d")},
    "torch.nn.TransformerEncoderLayer": ("dropout", 3),
    "torch.nn.TransformerDecoderLayer": ("dropout", 3),
    "torch.nn.Transformer": ("dropout", 5),
    "torch.nn.MultiheadAttention": ("dropout", 2),
    "torch.nn.LSTM": ("dropout", 5),
    "torch.nn.GRU": ("dropout", 5),
}  # fmt: skip
"""Layers that compute something else in training mode, with the argument, and its position, that may switch that off."""
DROPS_ON_REQUEST = frozenset({"torch.nn.MultiheadAttention", "torch.nn.LSTM", "torch.nn.GRU"})
"""Those of them that drop nothing unless they are told to."""
TYPES_WITH_DROPOUT = frozenset({
    "bart", "bert", "big_bird", "bigbird_pegasus", "biogpt", "blenderbot", "blenderbot-small", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "ernie", "esm", "flaubert", "fsmt", "funnel", "gpt2", "gpt_bigcode", "hubert", "ibert", "layoutlm",
    "layoutlmv2", "layoutlmv3", "led", "longformer", "longt5", "luke", "m2m_100", "marian", "mbart", "mobilebert", "mpnet", "mt5", "openai-gpt", "opt",
    "pegasus", "prophetnet", "roberta", "roberta-prelayernorm", "roformer", "speech_to_text", "splinter", "squeezebert", "switch_transformers", "t5",
    "umt5", "unispeech", "wav2vec2", "wavlm", "xglm", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet", "xmod", "yoso",
})  # fmt: skip
"""`model_type`s whose configuration class drops something unless it is told not to (transformers 5.24)."""
LAYERS_WITH_PARAMETERS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear", "Bilinear", "Embedding", "EmbeddingBag", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
        "LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "PReLU", "LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell",
        "MultiheadAttention", "Transformer", "TransformerEncoder", "TransformerDecoder", "TransformerEncoderLayer", "TransformerDecoderLayer",
    )
)  # fmt: skip
"""Layers that hold parameters, as they are made without further arguments."""
MEAN_LOSSES = frozenset({"litgpt.utils.chunked_cross_entropy"}) | frozenset(
    f"torch.nn.functional.{name}"
    for name in (
        "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
        "kl_div", "ctc_loss", "cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss", "gaussian_nll_loss", "poisson_nll_loss",
    )
)  # fmt: skip
"""Functions that return a mean unless their `reduction` says otherwise."""
TENSOR_FACTORIES = tuple(
    f"torch.{name}" for name in ("ones", "zeros", "rand", "randn", "empty", "full", "tensor", "eye", "ones_like", "zeros_like", "randn_like")
)  # fmt: skip
"""Functions that make a tensor, and take `requires_grad`."""
HOLDS_LAYERS = frozenset(f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict"))

INNER_ATTRIBUTES = frozenset({"module", "base_model", "_orig_mod"})
"""Attributes of a wrapper under which the wrapped model lies."""

DISTRIBUTED_SAMPLERS = frozenset(
    {"torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler"}
)
SAVES = frozenset({"torch.save", "safetensors.torch.save_file", "safetensors.torch.save_model", "torch.jit.save"})
"""Functions that write a file of weights."""
OF_ALL_PROCESSES = (
    *(f"torch.distributed.{name}" for name in (
        "init_process_group", "barrier", "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "reduce_scatter", "broadcast",
        "broadcast_object_list", "monitored_barrier",
    )),
    "torch.nn.parallel.DistributedDataParallel", *DISTRIBUTED_SAMPLERS,
)  # fmt: skip
"""What each process of a distributed training calls, and a program of one process does not."""
ITERABLE_DATASETS = frozenset({"torch.utils.data.IterableDataset", "torch.utils.data.dataset.IterableDataset"})
LOADERS = frozenset({"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"})
RUN_THROUGH = frozenset({"builtins.enumerate", "builtins.zip", "builtins.iter", "builtins.list", "itertools.islice"})
"""Functions that run through what they are given."""

TRACKED_CLASSES = frozenset({
    "argparse.ArgumentParser", "transformers.HfArgumentParser", "accelerate.Accelerator", "torch.Generator", "torch.utils.data.distributed.DistributedSampler",
    "torch.utils.data.DistributedSampler", "lightning.Fabric", "lightning.fabric.Fabric",
})  # fmt: skip
"""Classes without a kind of their own whose instances are followed."""


def only_computes(name: str, words: tuple[str, ...], keywords: Iterable[str]) -> bool:
    """Whether a callable's name, one of the words in it, and its arguments say that it calls no `backward`."""
    return _is_named_for_computing(name, words) and not any(
        word in keyword for keyword in keywords for word in ("optim", "parameters", "grad")
    )


@cache
def _is_named_for_computing(name: str, words: tuple[str, ...]) -> bool:
    name = name.lower()
    return any(word in name for word in words) and not any(word in name for word in MAY_CALL_BACKWARD)


def calls_in_any_context(name: str) -> bool:
    """Whether a function or method may call what it is given under transformed or switched gradients."""
    root = name.partition(".")[0]
    if root == "torch":
        return not name.startswith(("torch.utils.data.", "torch.multiprocessing."))
    return root not in LIBRARY_ROOTS


def starts_what_it_is_given(name: str) -> bool:
    """Whether a function or method calls what it is given in another thread or process, or later."""
    return name in STARTERS or name.rpartition(".")[2] in STARTS_WHAT_IT_IS_GIVEN


def of_ids(method: str) -> str | None:
    """What a method of a tensor of ids returns: the ids, or, `ids.ne(pad)`, which of them are no padding."""
    return ENCODING if method in ID_METHODS else MASK if method == "ne" else None


def splits_text(name: str) -> bool:
    """Whether a function or method, by its name, takes a text apart."""
    last = name.rpartition(".")[2].lower()
    words = set(last.split("_"))
    is_splitter = bool(words & _PIECES) or last.startswith("split_")
    return last in SPLITS or (is_splitter and not words & _NOT_OF_TEXT)


def canonical(name: str) -> str:
    """The name under which the tables know it: transformers exports every class at its top level."""
    if name.startswith("transformers.models."):
        owner, _, last = name.rpartition(".")
        if last[:1].isupper():
            return "transformers." + last
        cls = owner.rpartition(".")[2]
        return f"transformers.{cls}.{last}" if cls[:1].isupper() else name
    return name
