"""Pairs of tokenizer and model that people really write: which are right, which are wrong, which only differ a little.

Each list holds rows of tokenizers and models; `*` stands for any letters, and each side means every known id that it
matches.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

import pytest

from llm_lsp.knowledge.checkpoints import Checkpoint, compare_tokenizers, from_table, known_ids

Row = tuple[str, str]

RIGHT: tuple[Row, ...] = (
    ("bert-base-uncased", "distilbert-base-uncased"),
    ("distilbert-base-uncased", "bert-base-uncased"),
    (
        "bert-base-uncased",
        (
            "bert-large-uncased prajjwal1/bert-tiny prajjwal1/bert-mini prajjwal1/bert-small prajjwal1/bert-medium "
            "google/bert_uncased_L-* huawei-noah/TinyBERT_General_* google/mobilebert-uncased "
            "nreimers/MiniLM-L6-H384-uncased microsoft/MiniLM-L12-H384-uncased"
        ),
    ),
    ("bert-base-uncased", "google/electra-*-discriminator google/electra-*-generator"),
    (
        "bert-base-uncased",
        (
            "ProsusAI/finbert unitary/toxic-bert textattack/bert-base-uncased-* BAAI/bge-small-en* BAAI/bge-base-en* "
            "BAAI/bge-large-en* intfloat/e5-small* intfloat/e5-base* intfloat/e5-large* thenlper/gte-small "
            "thenlper/gte-base thenlper/gte-large sentence-transformers/all-MiniLM-* facebook/dpr-* facebook/contriever "
            "colbert-ir/colbertv2.0 cross-encoder/ms-marco-MiniLM-*"
        ),
    ),
    (
        "bert-base-uncased",
        (
            "nomic-ai/nomic-embed-text-v1 nomic-ai/nomic-embed-text-v1.5 Alibaba-NLP/gte-*-en-v1.5 "
            "squeezebert/squeezebert-uncased"
        ),
    ),
    (
        "bert-base-cased",
        (
            "distilbert-base-cased dslim/bert-base-NER dbmdz/bert-large-cased-finetuned-conll03-english "
            "dmis-lab/biobert-* emilyalsentzer/Bio_ClinicalBERT"
        ),
    ),
    (
        "bert-base-chinese",
        (
            "hfl/chinese-bert-wwm hfl/chinese-bert-wwm-ext hfl/chinese-roberta-wwm-ext hfl/chinese-roberta-wwm-ext-large "
            "hfl/chinese-macbert-* hfl/rbt3 ckiplab/*-chinese shibing624/text2vec-base-chinese moka-ai/m3e-* "
            "BAAI/bge-*-zh uer/gpt2-chinese-cluecorpussmall"
        ),
    ),
    ("klue/bert-base", "klue/roberta-*"),
    ("fnlp/bart-base-chinese", "fnlp/bart-large-chinese"),
    (
        "gpt2",
        (
            "gpt2-medium gpt2-large gpt2-xl distilgpt2 microsoft/DialoGPT-* EleutherAI/gpt-neo-* cerebras/Cerebras-GPT-* "
            "roneneldan/TinyStories-* EleutherAI/gpt-j-6B nlpconnect/vit-gpt2-image-captioning"
        ),
    ),
    ("EleutherAI/gpt-neo-125M", "roneneldan/TinyStories-*"),
    (
        "EleutherAI/pythia-*",
        (
            "EleutherAI/pythia-* EleutherAI/gpt-neox-20b mosaicml/mpt-7b stabilityai/stablelm-3b-4e1t "
            "togethercomputer/RedPajama-INCITE-* RWKV/rwkv-4-*-pile"
        ),
    ),
    ("EleutherAI/gpt-neox-20b", "state-spaces/mamba-* state-spaces/mamba2-* EleutherAI/pythia-*"),
    ("meta-llama/Llama-2-7b-hf", "apple/OpenELM-*"),
    ("lmsys/vicuna-7b-v1.5", "THUDM/cogvlm-chat-hf liuhaotian/llava-v1.5-7b"),
    ("facebook/opt-125m", "facebook/opt-*"),
    ("bigscience/bloom-560m", "bigscience/bloom bigscience/bloom-* bigscience/bloomz* BelleGroup/BELLE-7B-2M"),
    (
        "meta-llama/Llama-2-*-hf",
        (
            "meta-llama/Llama-2-*-hf NousResearch/Llama-2-* lmsys/vicuna-*-v1.5 TheBloke/Llama-2-*-GPTQ "
            "TheBloke/Llama-2-*-AWQ huggyllama/llama-*"
        ),
    ),
    (
        "meta-llama/Meta-Llama-3-8B",
        (
            "meta-llama/Meta-Llama-3-* meta-llama/Llama-3.1-* meta-llama/Llama-3.2-1B* meta-llama/Llama-3.2-3B* "
            "meta-llama/Llama-3.3-* meta-llama/Llama-Guard-3-8B unsloth/llama-3-8b* NousResearch/Meta-Llama-3-*"
        ),
    ),
    (
        "mistralai/Mistral-7B-v0.1",
        (
            "mistralai/Mistral-7B-Instruct-v0.1 mistralai/Mistral-7B-Instruct-v0.2 mistralai/Mixtral-8x7B-* "
            "HuggingFaceH4/zephyr-7b-* Intel/neural-chat-* intfloat/e5-mistral-7b-instruct"
        ),
    ),
    (
        "mistralai/Mistral-7B-v0.3",
        (
            "mistralai/Mistral-7B-Instruct-v0.3 mistralai/Codestral-22B-* mistralai/Mathstral-7B-* "
            "mistralai/Mixtral-8x22B-Instruct-v0.1"
        ),
    ),
    ("Qwen/Qwen1.5-*", "Qwen/Qwen2-0.5B* Qwen/Qwen2-1.5B* Qwen/Qwen2-7B* Qwen/Qwen2-72B*"),
    ("Qwen/Qwen2-0.5B* Qwen/Qwen2-1.5B* Qwen/Qwen2-7B* Qwen/Qwen2-72B*", "Qwen/Qwen1.5-*"),
    ("Qwen/Qwen2.5-*", "Qwen/Qwen2.5-* Qwen/QwQ-32B-Preview"),
    (
        "google/gemma-2b",
        "google/gemma-7b* google/gemma-2b-it google/gemma-1.1-* google/gemma-2-* google/recurrentgemma-*",
    ),
    (
        "t5-base",
        (
            "t5-small t5-large t5-3b t5-11b google/t5-v1_1-* google/flan-t5-* bigscience/T0* google/flan-ul2 "
            "google/long-t5-* sentence-transformers/gtr-t5-* sentence-transformers/sentence-t5-* hkunlp/instructor-*"
        ),
    ),
    ("google/mt5-base", "google/mt5-* bigscience/mt0-* CohereForAI/aya-101"),
    (
        "roberta-base",
        (
            "roberta-large distilroberta-base microsoft/codebert-base microsoft/graphcodebert-base "
            "allenai/longformer-* cardiffnlp/twitter-roberta-* facebook/bart-* microsoft/trocr-base-* "
            "microsoft/trocr-large-* laion/clap-*"
        ),
    ),
    ("facebook/bart-large", "facebook/bart-large-cnn facebook/bart-large-xsum sshleifer/distilbart-* allenai/led-*"),
    (
        "xlm-roberta-base",
        (
            "xlm-roberta-large intfloat/multilingual-e5-* BAAI/bge-m3 BAAI/bge-reranker-base BAAI/bge-reranker-large "
            "sentence-transformers/paraphrase-multilingual-* microsoft/Multilingual-MiniLM-*"
        ),
    ),
    (
        "openai/clip-vit-base-patch32",
        "openai/clip-* laion/CLIP-* CIDAS/clipseg-* google/owlvit-* patrickjohncyh/fashion-clip",
    ),
    ("openai/whisper-small", "openai/whisper-tiny openai/whisper-base openai/whisper-medium openai/whisper-large-v2"),
    ("openai/whisper-small", "distil-whisper/distil-large-v2"),
    ("Salesforce/codegen-350M-mono", "microsoft/phi-1 microsoft/phi-1_5 microsoft/phi-2"),
    ("microsoft/Phi-3-mini-4k-instruct", "microsoft/Phi-3-mini-* microsoft/Phi-3-medium-* microsoft/Phi-3.5-mini-*"),
    ("bert-base-uncased", "google-bert/bert-base-uncased BERT-Base-Uncased"),
    ("gpt2", "openai-community/gpt2"),
    ("roberta-base", "FacebookAI/roberta-base"),
    ("t5-base", "google-t5/t5-base"),
    ("distilbert-base-uncased", "distilbert/distilbert-base-uncased"),
    ("CohereForAI/c4ai-command-r-v01", "CohereLabs/c4ai-command-r-v01"),
    ("THUDM/chatglm3-6b", "zai-org/chatglm3-6b"),
    ("codellama/CodeLlama-7b-hf", "meta-llama/CodeLlama-7b-hf"),
    ("WizardLM/WizardMath-7B-V1.0", "WizardLMTeam/WizardMath-7B-V1.0"),
    ("meta-llama/Meta-Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
    ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4 Qwen/Qwen2.5-7B-Instruct-AWQ"),
    (
        "mistralai/Mistral-7B-Instruct-v0.2",
        "TheBloke/Mistral-7B-Instruct-v0.2-GPTQ TheBloke/Mistral-7B-Instruct-v0.2-AWQ",
    ),
    ("meta-llama/Llama-3.3-70B-Instruct", "RedHatAI/Llama-3.3-70B-Instruct-quantized.w8a8"),
)

WRONG: tuple[Row, ...] = (
    ("bert-base-cased", "bert-base-uncased bert-large-uncased prajjwal1/bert-tiny"),
    ("bert-base-uncased bert-large-uncased", "bert-base-cased distilbert-base-cased"),
    ("distilbert-base-cased", "distilbert-base-uncased-finetuned-sst-2-english"),
    (
        "bert-base-uncased",
        "bert-base-multilingual-cased bert-base-multilingual-uncased bert-base-chinese bert-base-german-cased",
    ),
    ("bert-base-multilingual-cased", "bert-base-multilingual-uncased DeepPavlov/rubert-base-cased"),
    ("bert-base-uncased", "microsoft/BiomedNLP-PubMedBERT-* nlpaueb/legal-bert-base-uncased"),
    ("bert-base-uncased", "allenai/scibert_scivocab_uncased allenai/specter yiyanghkust/finbert-tone"),
    ("bert-base-uncased", "microsoft/mpnet-base sentence-transformers/all-mpnet-base-v2"),
    (
        "bert-base-uncased",
        "roberta-base roberta-large albert-base-* albert-large-* xlnet-base-cased microsoft/deberta-* xlm-roberta-*",
    ),
    ("roberta-base", "gpt2 microsoft/deberta-base xlm-roberta-base"),
    ("gpt2", "roberta-base facebook/opt-*"),
    ("gpt2", "EleutherAI/pythia-* EleutherAI/gpt-neox-20b bigscience/bloom-560m tiiuae/falcon-7b huggyllama/llama-7b"),
    ("microsoft/deberta-base", "microsoft/deberta-v3-base"),
    ("microsoft/deberta-v3-base", "microsoft/mdeberta-v3-base"),
    ("xlm-roberta-base", "bert-base-multilingual-cased"),
    ("facebook/mbart-large-cc25", "facebook/mbart-large-50*"),
    ("facebook/m2m100_418M", "facebook/nllb-200-*"),
    ("t5-small t5-base t5-large", "google/mt5-* google/byt5-* Salesforce/codet5-base google/umt5-*"),
    ("Helsinki-NLP/opus-mt-en-de", "Helsinki-NLP/opus-mt-de-en Helsinki-NLP/opus-mt-en-fr"),
    ("meta-llama/Llama-2-*-hf", "meta-llama/Meta-Llama-3-8B meta-llama/Llama-3.1-8B meta-llama/Llama-3.2-1B"),
    ("meta-llama/Llama-2-*-hf", "mistralai/Mistral-7B-v0.1 openlm-research/open_llama_*"),
    ("openlm-research/open_llama_7b", "openlm-research/open_llama_7b_v2"),
    (
        "mistralai/Mistral-7B-v0.1 mistralai/Mistral-7B-Instruct-v0.2",
        "mistralai/Mistral-7B-v0.3 mistralai/Mistral-7B-Instruct-v0.3",
    ),
    (
        "mistralai/Mistral-7B-v0.3",
        "mistralai/Mistral-Nemo-* mistralai/Ministral-8B-* mistralai/Mistral-Small-24B-*",
    ),
    ("mistralai/Mixtral-8x7B-v0.1", "mistralai/Mixtral-8x22B-Instruct-v0.1"),
    ("codellama/CodeLlama-7b-hf", "meta-llama/Llama-2-7b-hf codellama/CodeLlama-34b-hf"),
    ("Qwen/Qwen2.5-7B* Qwen/Qwen3-0.6B*", "Qwen/Qwen3.5-*"),
    ("Qwen/CodeQwen1.5-7B", "Qwen/Qwen1.5-7B"),
    ("google/gemma-2-*", "google/gemma-3-*"),
    ("microsoft/phi-2", "microsoft/Phi-3-mini-* microsoft/phi-4"),
    ("microsoft/phi-4", "microsoft/Phi-4-mini-instruct"),
    ("bigcode/starcoder", "bigcode/starcoder2-* HuggingFaceTB/SmolLM*-135M"),
    (
        "deepseek-ai/deepseek-coder-6.7b-*",
        "deepseek-ai/deepseek-llm-* deepseek-ai/DeepSeek-V2* deepseek-ai/DeepSeek-V3 deepseek-ai/DeepSeek-R1",
    ),
    ("deepseek-ai/deepseek-llm-7b-base deepseek-ai/DeepSeek-V2", "deepseek-ai/DeepSeek-V3"),
    ("THUDM/chatglm-6b", "THUDM/chatglm2-6b THUDM/chatglm3-6b THUDM/glm-4-9b"),
    ("baichuan-inc/Baichuan-7B", "baichuan-inc/Baichuan2-*"),
    ("internlm/internlm-7b", "internlm/internlm2-* internlm/internlm3-*"),
    ("tiiuae/falcon-7b", "tiiuae/falcon-rw-1b tiiuae/Falcon3-*"),
    ("allenai/OLMo-1B-hf", "allenai/OLMo-2-*"),
    ("openai/whisper-small", "openai/whisper-small.en openai/whisper-large-v3 openai/whisper-large-v3-turbo"),
    ("openai/whisper-large-v3", "openai/whisper-small"),
    ("google/siglip-base-patch16-224", "google/siglip2-* google/siglip-*-multilingual"),
    (
        "meta-llama/Llama-2-7b-hf",
        "xlnet-base-cased google/siglip-base-patch16-224 klue/bert-base Snowflake/snowflake-arctic-instruct",
    ),
    ("01-ai/Yi-6B", "baichuan-inc/Baichuan-7B aubmindlab/bert-base-arabert*"),
    ("microsoft/phi-4", "stabilityai/stablelm-2-1_6b allenai/OLMo-2-1124-7B databricks/dbrx-base"),
    ("mistralai/Mistral-Nemo-Base-2407", "tiiuae/Falcon3-7B-Base nvidia/Nemotron-H-8B-Base-8K xai-org/grok-1"),
    ("Qwen/Qwen2.5-7B", "THUDM/glm-4-9b XiaomiMiMo/MiMo-7B-RL"),
    ("google/gemma-2b", "CohereForAI/c4ai-command-r-v01 nvidia/Minitron-8B-Base"),
)

ONLY_ADDED_TOKENS_DIFFER: tuple[Row, ...] = (
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-*", "Qwen/Qwen2.5-7B Qwen/Qwen2.5-Math-7B"),
    ("Qwen/Qwen2.5-7B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-*"),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "meta-llama/Llama-3.1-8B"),
    ("Qwen/Qwen2-7B", "Qwen/Qwen2.5-7B Qwen/Qwen3-8B"),
    ("Qwen/Qwen-7B", "Qwen/Qwen1.5-7B"),
    ("roberta-base facebook/bart-base", "facebook/opt-*"),
    (
        "EleutherAI/gpt-neox-20b",
        (
            "databricks/dolly-v2-* OpenAssistant/oasst-sft-4-pythia-12b-* stabilityai/stablelm-tuned-alpha-* "
            "allenai/OLMo-1B-hf answerdotai/ModernBERT-base"
        ),
    ),
    ("meta-llama/Llama-2-7b-hf", "microsoft/Phi-3-mini-4k-instruct llava-hf/llava-1.5-7b-hf codellama/CodeLlama-7b-hf"),
    ("lmsys/vicuna-7b-v1.5", "llava-hf/llava-1.5-7b-hf"),
    ("google/codegemma-2b", "google/gemma-2b"),
    ("google/gemma-2b", "google/codegemma-2b google/paligemma-3b-pt-224"),
    ("meta-llama/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B-Instruct"),
    ("HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("mistralai/Mistral-7B-v0.1", "teknium/OpenHermes-2.5-Mistral-7B"),
    ("huggyllama/llama-7b", "chavinlo/alpaca-native"),
)

MORE_TOKENS_THAN_ROWS: tuple[Row, ...] = (
    ("teknium/OpenHermes-2.5-Mistral-7B", "mistralai/Mistral-7B-v0.1"),
    ("chavinlo/alpaca-native", "huggyllama/llama-7b"),
    ("codellama/CodeLlama-7b-hf", "meta-llama/Llama-2-7b-hf"),
    ("microsoft/Phi-3-mini-4k-instruct", "meta-llama/Llama-2-7b-hf"),
    ("llava-hf/llava-1.5-7b-hf", "meta-llama/Llama-2-7b-hf"),
    ("google/paligemma-3b-pt-224", "google/gemma-2b"),
)

NOBODY_COMPARED_THEM: tuple[Row, ...] = (
    ("microsoft/deberta-v2-xlarge", "microsoft/deberta-v3-base"),
    ("mistralai/Mistral-Small-24B-Base-2501", "mistralai/Mistral-Nemo-Base-2407"),
    ("mistralai/Mixtral-8x22B-v0.1", "mistralai/Mixtral-8x7B-v0.1 mistralai/Mixtral-8x22B-Instruct-v0.1"),
    ("01-ai/Yi-1.5-6B", "01-ai/Yi-6B 01-ai/Yi-Coder-9B-Chat"),
    ("HuggingFaceTB/SmolLM-135M", "HuggingFaceTB/SmolLM2-135M"),
    ("ibm-granite/granite-3.0-8b-instruct", "ibm-granite/granite-3b-code-base-2k bigcode/starcoder"),
    ("THUDM/glm-4-9b", "THUDM/glm-4-9b-hf"),
    ("CAMeL-Lab/bert-base-arabic-camelbert-mix", "CAMeL-Lab/bert-base-arabic-camelbert-msa"),
    ("aubmindlab/bert-base-arabertv2", "aubmindlab/bert-base-arabertv02"),
    ("deepset/gbert-base", "dbmdz/bert-base-german-cased dbmdz/bert-base-german-uncased"),
)

WITHOUT_TOKENIZER: tuple[Row, ...] = (
    ("bert-base-uncased gpt2", "google/vit-base-patch16-224 apple/OpenELM-270M state-spaces/mamba-130m"),
    ("gpt2", "timdettmers/guanaco-7b FinGPT/fingpt-forecaster_dow30_llama2-7b_lora tloen/alpaca-lora-7b"),
    ("smangrul/tinyllama_lora_norobots", "gpt2"),
)


@cache
def ids_like(pattern: str) -> tuple[str, ...]:
    if "*" not in pattern:
        assert from_table(pattern) is not None, f"{pattern} is not known"
        return (pattern,)
    found = tuple(name for name in known_ids() if fnmatchcase(name.lower(), pattern.lower()))
    assert found, f"nothing is like {pattern}"
    return found


def pairs(rows: tuple[Row, ...]) -> list[tuple[Checkpoint, Checkpoint]]:
    def known(patterns: str) -> list[Checkpoint]:
        found = [from_table(name) for pattern in patterns.split() for name in ids_like(pattern)]
        return [checkpoint for checkpoint in found if checkpoint is not None]

    return [(tokenizer, model) for row in rows for tokenizer in known(row[0]) for model in known(row[1])]


def verdicts(row: Row) -> dict[tuple[str, str], bool | None]:
    return {(one.id, two.id): compare_tokenizers(one, two).same for one, two in pairs((row,))}


@pytest.mark.parametrize("row", RIGHT, ids=" + ".join)
def test_a_right_pair_is_not_called_wrong(row: Row) -> None:
    assert {pair for pair, same in verdicts(row).items() if same is False} == set()


@pytest.mark.parametrize("row", WRONG, ids=" + ".join)
def test_a_wrong_pair_is_called_wrong(row: Row) -> None:
    assert {pair for pair, same in verdicts(row).items() if same is not False} == set()


@pytest.mark.parametrize("row", ONLY_ADDED_TOKENS_DIFFER, ids=" + ".join)
def test_a_pair_that_differs_in_added_tokens_only_is_not_called_wrong(row: Row) -> None:
    assert {pair for pair, same in verdicts(row).items() if same is False} == set()


@pytest.mark.parametrize("row", MORE_TOKENS_THAN_ROWS, ids=" + ".join)
def test_added_tokens_beyond_the_rows_of_the_model_are_out_of_range(row: Row) -> None:
    for tokenizer, model in pairs((row,)):
        comparison = compare_tokenizers(tokenizer, model)
        assert comparison.same is False, (tokenizer.id, model.id)
        assert comparison.out_of_range, (tokenizer.id, model.id)


@pytest.mark.parametrize("row", NOBODY_COMPARED_THEM, ids=" + ".join)
def test_a_difference_that_nobody_checked_is_not_claimed(row: Row) -> None:
    for tokenizer, model in pairs((row, (row[1], row[0]))):
        comparison = compare_tokenizers(tokenizer, model)
        # A tokenizer with more tokens than the model has rows is wrong whatever its pieces are.
        assert comparison.same is None or comparison.out_of_range or comparison.same, (tokenizer.id, model.id)


@pytest.mark.parametrize("row", WITHOUT_TOKENIZER, ids=" + ".join)
def test_a_model_without_a_tokenizer_and_an_adapter_are_compared_with_nothing(row: Row) -> None:
    assert set(verdicts(row).values()) == {None}


def test_nothing_is_certain_unless_both_sizes_are_confirmed_and_differ() -> None:
    for tokenizer, model in pairs(RIGHT + WRONG + ONLY_ADDED_TOKENS_DIFFER + MORE_TOKENS_THAN_ROWS):
        comparison = compare_tokenizers(tokenizer, model)
        if comparison.certain:
            tokens, rows = comparison.tokenizer_size, comparison.model_size
            assert comparison.same is False
            assert tokens is not None
            assert rows is not None
            assert tokens.confirmed
            assert rows.confirmed
            assert tokens.value != rows.value


def test_a_known_checkpoint_is_the_same_as_itself_or_has_no_tokenizer() -> None:
    for name in known_ids():
        checkpoint = from_table(name)
        assert checkpoint is not None
        assert compare_tokenizers(checkpoint, checkpoint).same is not False, name
