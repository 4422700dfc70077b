"""Load and save: our folder is the Hugging Face folder; names are strict, formats are safe."""

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
from .bert import About, Bert
from .config import BertConfig
from .errors import CheckpointProblem

SHIPPED = Path(__file__).parent / "weights"

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
    "attention.join": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
MLM = {"mlm.dense": "cls.predictions.transform.dense", "mlm.norm": "cls.predictions.transform.LayerNorm",
       "mlm": "cls.predictions"}
NSP = {"nsp.pooler": "bert.pooler.dense", "nsp.classifier": "cls.seq_relationship"}
# the decoder is the embedding matrix again, and its bias is stored under two names
COPIES = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "bert.embeddings.position_ids"}
# the files that a model is read from
PARTS = re.compile(r"(config|tokenizer\w*)\.json|vocab\.txt|(CARD|README)\.md|(pytorch_)?model.*\.(safetensors|bin|json)")
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def load(source: str | os.PathLike, hub: bool = False) -> Bert:
    """A shipped name, a checkpoint folder or, when `hub` allows it, a Hugging Face name -> a BERT ready to read."""
    folder = resolved(source, hub)
    known = fingerprint(folder)  # before anything is read: files that change meanwhile have another one
    config = BertConfig.read(_file(folder, "config.json"))
    tokenizer = wordpiece.read(folder, config.max_position_embeddings)
    if tokenizer.size > config.vocab_size:
        raise CheckpointProblem(f"{folder}: the vocabulary has {tokenizer.size:,} wordpieces, config.json says "
                                f"{config.vocab_size:,}.")
    found = tensors(folder)
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    has_mlm = "cls.predictions.transform.dense.weight" in found and settings.get("tie_word_embeddings", True)
    has_nsp = "cls.seq_relationship.weight" in found and "bert.pooler.dense.weight" in found
    if "cls.predictions.bias" not in found and "cls.predictions.decoder.bias" in found:
        found["cls.predictions.bias"] = found["cls.predictions.decoder.bias"]
    bert = Bert(config, tokenizer, mlm=has_mlm, nsp=has_nsp)
    names = _names(bert)
    for ours, parameter in bert.state_dict(keep_vars=True).items():
        theirs = names[ours]
        if theirs not in found:
            raise CheckpointProblem(f"{folder} lacks the weights {theirs}.")
        tensor = found.pop(theirs)
        if tensor.shape != parameter.shape:
            raise CheckpointProblem(f"{folder}: {theirs} has shape {tuple(tensor.shape)}, config.json needs "
                                    f"{tuple(parameter.shape)}.")
        if not tensor.is_floating_point():
            raise CheckpointProblem(f"{folder}: {theirs} holds {tensor.dtype}, not floating-point weights.")
        parameter.data = tensor.to(torch.float32, copy=True)  # the file is not left mapped: it may be replaced
    notes = []
    if not has_mlm:
        notes.append("This checkpoint has no masked-word head.")
    if not has_nsp:
        notes.append("This checkpoint has no next-sentence head.")
    extra = sorted(set(found) - COPIES)
    if extra:
        notes.append(f"Left unread, not part of BERT's pre-training: {', '.join(extra)}.")
    card = next((folder / n for n in ("CARD.md", "README.md") if (folder / n).is_file()), None)
    bert.about = About(name(folder), card.read_text(encoding="utf-8", errors="replace") if card else "", tuple(notes), known)
    return bert.eval().requires_grad_(False)


def save(bert: Bert, folder: Path, dtype: torch.dtype = torch.float32, added: Mapping[str, Tensor] | None = None,
         **described) -> Path:
    """Write the folder whole or not at all: it is made beside its place and then moved there.

    `added` are weights beyond BERT's own, by Hugging Face's names, and `described` what config.json says of them.
    """
    folder = Path(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    try:
        _write(bert, made, dtype, dict(added or {}), described)
        _put(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _write(bert: Bert, folder: Path, dtype: torch.dtype, added: dict[str, Tensor], described: dict) -> None:
    names = _names(bert)
    weights = {names[ours]: tensor for ours, tensor in bert.state_dict().items()} | added
    save_file({name: tensor.detach().to(dtype).contiguous() for name, tensor in weights.items()},
              folder / "model.safetensors", metadata={"format": "pt"})
    heads = "ForPreTraining" if bert.mlm is not None and bert.nsp is not None else (
        "ForMaskedLM" if bert.mlm is not None else "ForNextSentencePrediction" if bert.nsp is not None else "Model")
    bert.config.write(folder / "config.json", **({"architectures": [f"Bert{heads}"]} | described),
                      dtype=str(dtype).removeprefix("torch."))
    bert.tokenizer.save(folder)
    if bert.about.card:
        (folder / "CARD.md").write_text(bert.about.card, encoding="utf-8")


def _put(made: Path, folder: Path) -> None:
    """A folder in the place of another; where that fails, the other is back in its place."""
    if not folder.exists():
        return files.replace(made, folder)
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    files.replace(folder, old)
    try:
        files.replace(made, folder)
    except OSError:
        files.replace(old, folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


@dataclass(frozen=True)
class Found:
    """A checkpoint that can be loaded by `path`, and what its config says."""

    name: str
    path: Path
    config: BertConfig


def available(folders: Iterable[str | os.PathLike] = ()) -> list[Found]:
    """The shipped checkpoints and every checkpoint folder directly inside `folders`, each under a name of its own."""
    return [found for place in (SHIPPED, *map(Path, folders)) for found in inside(place)]


def inside(place: Path) -> list[Found]:
    """The folder itself and every folder directly inside it, where it is a checkpoint, by name."""
    found = []
    for folder in [place, *sorted(place.iterdir())] if place.is_dir() else ():
        if folder.name.startswith(".") or not (folder / "config.json").is_file():
            continue
        try:
            found.append(Found(name(folder), folder, BertConfig.read(folder / "config.json")))
        except CheckpointProblem:
            continue
    return found


def name(folder: Path) -> str:
    """What a checkpoint is called: its folder, its Hub name, or both folders where a shipped model has that name too."""
    whole = folder.resolve()
    cached = whole.parent.parent.name  # the Hub's cache: models--someone--some-bert/snapshots/0123…
    if whole.parent.name == "snapshots" and cached.startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/", 1)
    if whole.parent != SHIPPED.resolve() and (SHIPPED / whole.name).is_dir():
        return f"{whole.name} ({whole.parent.name})"
    return whole.name


def fingerprint(folder: Path) -> str:
    """What a checkpoint is, in a word: its place, and the number, time and size of each file it is read from."""
    parts = sorted((file.name, file.stat().st_ino, file.stat().st_mtime_ns, file.stat().st_size) for file in _parts(folder))
    return hashlib.sha256(repr((str(folder.resolve()), parts)).encode()).hexdigest()


def written(folder: Path) -> float:
    """When a checkpoint was last written, in seconds since 1970."""
    return max(file.stat().st_mtime for file in _parts(folder))


def _parts(folder: Path) -> list[Path]:
    return [file for file in _file(folder, "config.json").parent.iterdir() if PARTS.fullmatch(file.name)]


def resolved(source: str | os.PathLike, hub: bool = False) -> Path:
    """The folder of a shipped name, a folder, or, when `hub` allows it, a Hugging Face name, which is fetched if need be."""
    text = os.fspath(source)
    if re.fullmatch(r"[\w.-]+", text) and (SHIPPED / text).is_dir():
        return SHIPPED / text
    path = Path(text)
    if path.is_dir():
        return path
    if path.exists():
        raise CheckpointProblem(f"{path} is a file; give the folder that holds config.json and the weights.")
    shipped = ", ".join(sorted(p.name for p in SHIPPED.iterdir() if p.is_dir())) if SHIPPED.is_dir() else "none"
    if not HUB_NAME.fullmatch(text):
        raise CheckpointProblem(f"There is no folder {text}, and it is not a shipped model ({shipped}).")
    if not hub:
        raise CheckpointProblem(f"There is no folder {text} and no shipped model of that name ({shipped}). To load it "
                                "from the Hugging Face Hub, start with --hub.")
    return snapshot(text)


def snapshot(name: str) -> Path:
    """The folder of a model of the Hugging Face Hub in its local cache, fetched first where it is not there yet."""
    from huggingface_hub import snapshot_download
    wanted = ["config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json", "*.safetensors",
              "*.safetensors.index.json", "README.md"]
    try:
        folder = Path(snapshot_download(name, allow_patterns=wanted))
        if not list(folder.glob("*.safetensors")):
            folder = Path(snapshot_download(name, allow_patterns=[*wanted, "pytorch_model*.bin*"]))
    except Exception as error:  # the hub client raises many kinds for no network, no such name and no permission
        raise CheckpointProblem(f"{name} could not be fetched from the Hugging Face Hub "
                                f"({type(error).__name__}). Check the name and the network, or download the folder "
                                "elsewhere and put it into the models folder.") from None
    return folder


def _file(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise CheckpointProblem(f"{folder} is not a checkpoint: it has no {name}.")
    return folder / name


def tensors(folder: Path) -> dict[str, Tensor]:
    """All weights of a checkpoint folder by the names that BertForPreTraining gives them today."""
    return _modern(_stored(folder))


def _stored(folder: Path) -> dict[str, Tensor]:
    for name, read in (("model.safetensors", _safetensors), ("pytorch_model.bin", _pickled)):
        index = folder / f"{name}.index.json"
        if (folder / name).is_file():
            return read(folder / name)
        if index.is_file():
            try:
                files = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise CheckpointProblem(f"{index} does not list the parts of a checkpoint.") from None
            if any(not isinstance(part, str) or Path(part).name != part for part in files):
                raise CheckpointProblem(f"{index} names a part outside its folder.")
            return {key: value for part in files for key, value in read(_file(folder, part)).items()}
    raise CheckpointProblem(f"{folder} has no weights: neither model.safetensors nor pytorch_model.bin.")


def _safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointProblem(f"{path} is damaged or not a safetensors file ({error}).") from None


def _pickled(path: Path) -> dict[str, Tensor]:
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise CheckpointProblem(f"{path} holds more than plain weights, or is damaged; it was not opened, because "
                                "such a file can run code.") from None
    except Exception as error:  # a truncated zip, a text file: torch raises RuntimeError, EOFError, ValueError, ...
        raise CheckpointProblem(f"{path} is damaged or not a PyTorch file ({type(error).__name__}).") from None
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        raise CheckpointProblem(f"{path} is not a dictionary of weights.")
    return found


def _modern(found: dict[str, Tensor]) -> dict[str, Tensor]:
    """Names as BertForPreTraining has them today: with the `bert.` prefix, LayerNorm by weight and bias."""
    bare = not any(name.startswith("bert.") for name in found)
    modern = {}
    for name, tensor in found.items():
        name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
        name = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)
        if bare and name.split(".")[0] in ("embeddings", "encoder", "pooler"):
            name = f"bert.{name}"
        modern[name] = tensor
    return modern


def _names(bert: Bert) -> dict[str, str]:
    """Our name of every parameter -> Hugging Face's."""
    prefixes = dict(ENCODER)
    for layer in range(bert.config.num_hidden_layers):
        prefixes |= {f"layers.{layer}.{ours}": f"bert.encoder.layer.{layer}.{theirs}" for ours, theirs in LAYER.items()}
    prefixes |= MLM | NSP
    return {ours: f"{prefixes[prefix]}.{leaf}" for ours in bert.state_dict()
            for prefix, _, leaf in [ours.rpartition(".")]}

