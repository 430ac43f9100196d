"""What draws random numbers, and what seeds which generator.

Sources as in `library.py`.
"""

from __future__ import annotations

__all__ = [
    "DRAWS_UNLESS",
    "GENERATORS",
    "LOADERS_THAT_DRAW",
    "METHODS_THAT_DRAW",
    "NUMPY_DRAWS",
    "PYTHON_DRAWS",
    "SEEDING_METHODS",
    "SEEDS",
    "TORCH_DRAWS",
    "UNSEEDED_GENERATORS",
    "WITH_FRESH_WEIGHTS",
]

SEEDS: dict[str, frozenset[str]] = {
    "torch.manual_seed": frozenset({"torch"}),
    "torch.random.manual_seed": frozenset({"torch"}),
    "torch.seed": frozenset(),
    "torch.set_rng_state": frozenset({"torch"}),
    "torch.random.set_rng_state": frozenset({"torch"}),
    "torch.default_generator.manual_seed": frozenset({"torch"}),
    "torch.cuda.manual_seed": frozenset(),
    "torch.cuda.manual_seed_all": frozenset(),
    "random.seed": frozenset({"Python"}),
    "random.setstate": frozenset({"Python"}),
    "numpy.random.seed": frozenset({"NumPy"}),
    "numpy.random.set_state": frozenset({"NumPy"}),
    **dict.fromkeys(
        (
            "transformers.set_seed", "transformers.trainer_utils.set_seed", "transformers.enable_full_determinism",
            "accelerate.utils.set_seed", "accelerate.utils.random.set_seed", "trl.set_seed",
            "lightning.seed_everything", "lightning.pytorch.seed_everything", "lightning.fabric.seed_everything",
            "pytorch_lightning.seed_everything", "lightning_fabric.seed_everything", "lightning.pytorch.utilities.seed.seed_everything",
            "lightning.fabric.utilities.seed.seed_everything", "pytorch_lightning.utilities.seed.seed_everything",
            "diffusers.training_utils.set_seed", "diffusers.utils.set_seed", "monai.utils.set_determinism", "ignite.utils.manual_seed",
            "mmengine.runner.set_random_seed", "fastai.torch_core.set_seed", "fastai.vision.all.set_seed", "fastai.text.all.set_seed",
            "unsloth.set_seed", "datasets.set_seed",
        ),
        frozenset({"torch", "NumPy", "Python"}),
    ),
    "allennlp.common.util.prepare_environment": frozenset({"torch", "NumPy", "Python"}),
}  # fmt: skip
"""Function to the generators that it seeds. `torch.cuda.manual_seed_all` alone leaves the CPU's generator unseeded."""

PYTHON_DRAWS = frozenset(
    f"random.{name}"
    for name in (
        "random", "randint", "randrange", "choice", "choices", "sample", "shuffle", "uniform", "gauss", "normalvariate", "betavariate",
        "expovariate", "triangular", "getrandbits", "randbytes", "lognormvariate", "paretovariate", "vonmisesvariate", "weibullvariate",
    )
)  # fmt: skip
NUMPY_DRAWS = frozenset(
    f"numpy.random.{name}"
    for name in (
        "rand", "randn", "randint", "random", "random_sample", "choice", "shuffle", "permutation", "normal", "uniform", "binomial", "beta",
        "exponential", "gamma", "poisson", "standard_normal", "multinomial", "dirichlet", "laplace", "multivariate_normal", "ranf", "sample",
        "random_integers", "bytes", "geometric", "gumbel", "logistic", "lognormal", "permuted",
    )
)  # fmt: skip
TORCH_DRAWS = frozenset(
    f"torch.{name}"
    for name in (
        "rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson", "rand_like", "randn_like", "randint_like",
    )
) | frozenset({"torch.utils.data.random_split"})  # fmt: skip
WITH_FRESH_WEIGHTS = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Linear", "Embedding", "Conv1d", "Conv2d", "LSTM", "GRU", "RNN", "MultiheadAttention", "Transformer", "TransformerEncoderLayer",
        "TransformerEncoder", "TransformerDecoderLayer", "Bilinear", "LazyLinear",
    )
)  # fmt: skip

LOADERS_THAT_DRAW = frozenset(
    f"torch.utils.data.{name}" for name in ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler")
)
DRAWS_UNLESS = {
    "sklearn.model_selection.train_test_split": "random_state",
    "sklearn.utils.shuffle": "random_state",
    "sklearn.utils.resample": "random_state",
}
"""Functions that draw from NumPy's generator unless they are given the argument."""
METHODS_THAT_DRAW = {
    ("datasets", "shuffle"): "seed",
    ("datasets", "train_test_split"): "seed",
    ("pandas", "sample"): "random_state",
}
"""The same for methods, by the library that made the receiver."""
GENERATORS = frozenset(
    {
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.random.Generator",
        "random.Random",
        "torch.Generator",
    }
)
"""Constructors of generators of their own."""
SEEDING_METHODS = frozenset({"seed", "manual_seed", "setstate", "set_state"})
UNSEEDED_GENERATORS = {
    "numpy.random.default_rng": "NumPy",
    "numpy.random.RandomState": "NumPy",
    "random.Random": "Python",
}
"""Constructors of generators of their own, which draw their seed from the machine when none is given."""
