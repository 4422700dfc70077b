"""Load and save checkpoints in Hugging Face's folder format: every weight by name, no pickled code."""

import hashlib
import json
import os
import pickle
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from . import files
from . import tokenizer as wordpiece
from .bert import Bert, ModelInfo
from .config import BertConfig
from .errors import CheckpointError

BUNDLED = Path(__file__).parent / "weights"

# our names and Hugging Face's, as prefixes of `.weight` and `.bias`
ENCODER = {
    "embeddings.token": "bert.embeddings.word_embeddings",
    "embeddings.segment": "bert.embeddings.token_type_embeddings",
    "embeddings.position": "bert.embeddings.position_embeddings",
    "embeddings.norm": "bert.embeddings.LayerNorm",
}
LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
MLM = {
    "mlm.dense": "cls.predictions.transform.dense",
    "mlm.norm": "cls.predictions.transform.LayerNorm",
    "mlm": "cls.predictions",
}
NSP = {"nsp.pooler": "bert.pooler.dense", "nsp.classifier": "cls.seq_relationship"}
# the decoder is the embedding matrix again, and its bias is stored under two names
COPIES = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "bert.embeddings.position_ids"}
# files that decide what a model computes or says of itself
PARTS = re.compile(r"(config|tokenizer\w*)\.json|vocab\.txt|(CARD|README)\.md|(pytorch_)?model.*\.(safetensors|bin|json)")
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def load(source: str | os.PathLike, hub: bool = False) -> Bert:
    """The BERT of a bundled name, a checkpoint folder or, with `hub`, a name on the Hugging Face Hub."""
    folder = resolve(source, hub)
    version = fingerprint(folder)  # before anything is read: files that change meanwhile have another one
    config = BertConfig.read(_file(folder, "config.json"))
    tokenizer = wordpiece.load(folder, config.max_position_embeddings)
    if tokenizer.vocab_size > config.vocab_size:
        raise CheckpointError(
            f"{folder}: the vocabulary has {tokenizer.vocab_size:,} wordpieces, config.json says {config.vocab_size:,}."
        )
    weights = read_state_dict(folder)
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    has_mlm = "cls.predictions.transform.dense.weight" in weights and settings.get("tie_word_embeddings", True)
    has_nsp = "cls.seq_relationship.weight" in weights and "bert.pooler.dense.weight" in weights
    if "cls.predictions.bias" not in weights and "cls.predictions.decoder.bias" in weights:
        weights["cls.predictions.bias"] = weights["cls.predictions.decoder.bias"]
    bert = Bert(config, tokenizer, mlm=has_mlm, nsp=has_nsp)
    names = _huggingface_names(bert)
    for ours, parameter in bert.state_dict(keep_vars=True).items():
        theirs = names[ours]
        if theirs not in weights:
            raise CheckpointError(f"{folder} lacks the weights {theirs}.")
        tensor = weights.pop(theirs)
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{folder}: {theirs} has shape {tuple(tensor.shape)}, config.json needs {tuple(parameter.shape)}."
            )
        if not tensor.is_floating_point():
            raise CheckpointError(f"{folder}: {theirs} holds {tensor.dtype}, not floating-point weights.")
        parameter.data = tensor.to(torch.float32, copy=True)  # the file is not left mapped: it may be replaced
    notes = []
    if not has_mlm:
        notes.append("This checkpoint has no masked-word head.")
    if not has_nsp:
        notes.append("This checkpoint has no next-sentence head.")
    extra = sorted(set(weights) - COPIES)
    if extra:
        notes.append(f"Not loaded, because not part of BERT's pre-training: {', '.join(extra)}.")
    card = next((folder / n for n in ("CARD.md", "README.md") if (folder / n).is_file()), None)
    bert.info = ModelInfo(
        name(folder), card.read_text(encoding="utf-8", errors="replace") if card else "", tuple(notes), version
    )
    return bert.eval().requires_grad_(False)


def save(
    bert: Bert,
    folder: Path,
    dtype: torch.dtype = torch.float32,
    extra_tensors: Mapping[str, Tensor] | None = None,
    **extra_config,
) -> Path:
    """Write the folder whole or not at all: beside its place, then moved there.

    `extra_tensors` are weights beyond BERT's own, by Hugging Face's names; `extra_config` goes into config.json.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        _write(bert, temporary, dtype, dict(extra_tensors or {}), extra_config)
        _replace_folder(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _write(bert: Bert, folder: Path, dtype: torch.dtype, extra_tensors: dict[str, Tensor], extra_config: dict) -> None:
    names = _huggingface_names(bert)
    weights = {names[ours]: tensor for ours, tensor in bert.state_dict().items()} | extra_tensors
    save_file(
        {name: tensor.detach().to(dtype).contiguous() for name, tensor in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    heads = (
        "ForPreTraining"
        if bert.mlm is not None and bert.nsp is not None
        else ("ForMaskedLM" if bert.mlm is not None else "ForNextSentencePrediction" if bert.nsp is not None else "Model")
    )
    bert.config.write(
        folder / "config.json",
        **({"architectures": [f"Bert{heads}"]} | extra_config),
        dtype=str(dtype).removeprefix("torch."),
    )
    bert.tokenizer.save(folder)
    if bert.info.card:
        (folder / "CARD.md").write_text(bert.info.card, encoding="utf-8")


def _replace_folder(temporary: Path, folder: Path) -> None:
    """Move a folder to the place of another; where that fails, the other is back in its place."""
    if not folder.exists():
        return files.replace(temporary, folder)
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    files.replace(folder, old)
    try:
        files.replace(temporary, folder)
    except OSError:
        files.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


@dataclass(frozen=True)
class CheckpointInfo:
    """A checkpoint to load by `path`, and its configuration."""

    name: str
    path: Path
    config: BertConfig


def available(folders: Iterable[str | os.PathLike] = ()) -> list[CheckpointInfo]:
    """The bundled checkpoints and those directly in `folders`, each under a name of its own."""
    return [info for folder in (BUNDLED, *map(Path, folders)) for info in inside(folder)]


def inside(parent: Path) -> list[CheckpointInfo]:
    """The checkpoints among a folder and the folders directly in it, by name."""
    infos = []
    for folder in [parent, *sorted(parent.iterdir())] if parent.is_dir() else ():
        if folder.name.startswith(".") or not (folder / "config.json").is_file():
            continue
        try:
            infos.append(CheckpointInfo(name(folder), folder, BertConfig.read(folder / "config.json")))
        except CheckpointError:
            continue
    return infos


def name(folder: Path) -> str:
    """A checkpoint's name: of its folder, on the Hub, or with its parent folder where a bundled model has that name."""
    path = folder.resolve()
    cached = path.parent.parent.name  # the Hub's cache: models--someone--some-bert/snapshots/0123…
    if path.parent.name == "snapshots" and cached.startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/", 1)
    if path.parent != BUNDLED.resolve() and (BUNDLED / path.name).is_dir():
        return f"{path.name} ({path.parent.name})"
    return path.name


def fingerprint(folder: Path) -> str:
    """A hash of a checkpoint's path and of the inode, modification time and size of its files."""
    parts = sorted((file.name, file.stat().st_ino, file.stat().st_mtime_ns, file.stat().st_size) for file in _parts(folder))
    return hashlib.sha256(repr((str(folder.resolve()), parts)).encode()).hexdigest()


def modified_at(folder: Path) -> float:
    """When a checkpoint was last written, in seconds since 1970."""
    return max(file.stat().st_mtime for file in _parts(folder))


def _parts(folder: Path) -> list[Path]:
    return [file for file in _file(folder, "config.json").parent.iterdir() if PARTS.fullmatch(file.name)]


def resolve(source: str | os.PathLike, hub: bool = False) -> Path:
    """The folder of a bundled name, a folder or, with `hub`, a name on the Hugging Face Hub, fetched if need be."""
    text = os.fspath(source)
    if re.fullmatch(r"[\w.-]+", text) and (BUNDLED / text).is_dir():
        return BUNDLED / text
    path = Path(text)
    if path.is_dir():
        return path
    if path.exists():
        raise CheckpointError(f"{path} is a file; a checkpoint is a folder with config.json and the weights.")
    bundled = ", ".join(sorted(p.name for p in BUNDLED.iterdir() if p.is_dir())) if BUNDLED.is_dir() else "none"
    if not HUB_NAME.fullmatch(text):
        raise CheckpointError(f"{text} is neither a folder nor a bundled model ({bundled}).")
    if not hub:
        raise CheckpointError(
            f"{text} is neither a folder nor a bundled model ({bundled}); loading from the Hugging Face Hub needs hub=True."
        )
    return snapshot(text)


def snapshot(name: str) -> Path:
    """The folder of a model of the Hugging Face Hub in its local cache, fetched first where it is not there yet."""
    from huggingface_hub import snapshot_download

    patterns = [
        "config.json",
        "vocab.txt",
        "tokenizer.json",
        "tokenizer_config.json",
        "*.safetensors",
        "*.safetensors.index.json",
        "README.md",
    ]
    try:
        folder = Path(snapshot_download(name, allow_patterns=patterns))
        if not list(folder.glob("*.safetensors")):
            folder = Path(snapshot_download(name, allow_patterns=[*patterns, "pytorch_model*.bin*"]))
    except Exception as error:  # the hub client raises many kinds for no network, no such name and no permission
        raise CheckpointError(
            f"{name} could not be fetched from the Hugging Face Hub ({type(error).__name__}): "
            "it needs a public name and a network; a folder downloaded elsewhere loads without."
        ) from None
    return folder


def _file(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise CheckpointError(f"{folder} is not a checkpoint: it has no {name}.")
    return folder / name


def read_state_dict(folder: Path) -> dict[str, Tensor]:
    """All weights of a checkpoint folder by the names that BertForPreTraining uses today."""
    return _rename_legacy_keys(_read_files(folder))


def _read_files(folder: Path) -> dict[str, Tensor]:
    for name, read in (("model.safetensors", _safetensors), ("pytorch_model.bin", _torch_file)):
        index = folder / f"{name}.index.json"
        if (folder / name).is_file():
            return read(folder / name)
        if index.is_file():
            try:
                parts = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise CheckpointError(f"{index} does not list the parts of a checkpoint.") from None
            if any(not isinstance(part, str) or Path(part).name != part for part in parts):
                raise CheckpointError(f"{index} names a part outside its folder.")
            return {key: value for part in parts for key, value in read(_file(folder, part)).items()}
    raise CheckpointError(f"{folder} has no weights: neither model.safetensors nor pytorch_model.bin.")


def _safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or not a safetensors file ({error}).") from None


def _torch_file(path: Path) -> dict[str, Tensor]:
    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise CheckpointError(
            f"{path} holds more than plain weights, or is damaged; it was not opened, because such a file can run code."
        ) from None
    except Exception as error:  # a truncated zip, a text file: torch raises RuntimeError, EOFError, ValueError, ...
        raise CheckpointError(f"{path} is damaged or not a PyTorch file ({type(error).__name__}).") from None
    if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise CheckpointError(f"{path} is not a dictionary of weights.")
    return weights


def _rename_legacy_keys(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Names as BertForPreTraining has them today: with the `bert.` prefix, LayerNorm by weight and bias."""
    bare = not any(name.startswith("bert.") for name in weights)
    modern = {}
    for name, tensor in weights.items():
        name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
        name = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)
        if bare and name.split(".")[0] in ("embeddings", "encoder", "pooler"):
            name = f"bert.{name}"
        modern[name] = tensor
    return modern


def _huggingface_names(bert: Bert) -> dict[str, str]:
    """Our name of every parameter -> Hugging Face's."""
    prefixes = dict(ENCODER)
    for layer in range(bert.config.num_hidden_layers):
        prefixes |= {f"layers.{layer}.{ours}": f"bert.encoder.layer.{layer}.{theirs}" for ours, theirs in LAYER.items()}
    prefixes |= MLM | NSP
    return {ours: f"{prefixes[prefix]}.{leaf}" for ours in bert.state_dict() for prefix, _, leaf in [ours.rpartition(".")]}
