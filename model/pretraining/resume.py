"""What a broken-off run needs to go on as if nothing had happened: one file, replaced whole."""

import errno
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from .. import files
from ..errors import CheckpointProblem
from . import distributed

MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass
class Position:
    """How far a run is. The order of the data, the masking and the dropout follow from the seed and the step."""

    step: int = 0
    tokens: int = 0
    elapsed: float = 0.0


def save(path: Path, position: Position, bert: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write weights, optimizer and position beside their place and move them there in one stroke."""
    tensors = {}
    for name, parameter in bert.named_parameters():
        tensors[f"weight.{name}"] = parameter.detach().cpu()
        for moment in MOMENTS:
            if parameter.requires_grad:
                tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment].cpu()
    with writing(path) as made:
        save_file(tensors, made, metadata={"position": json.dumps(asdict(position))})


def restored(path: Path, bert: nn.Module, optimizer: torch.optim.Optimizer) -> Position:
    """Put weights and optimizer back as they were, in every process; nothing changes where nothing was saved."""
    if not distributed.agreed(path.is_file()):
        return Position()
    position = distributed.agreed(_read(path, bert, optimizer) if distributed.rank() == 0 else Position())
    for parameter in _learned(bert):
        if distributed.rank():
            optimizer.state[parameter] = {moment: torch.zeros_like(parameter) for moment in MOMENTS}
        optimizer.state[parameter]["step"] = torch.tensor(float(position.step), device=parameter.device)
        distributed.spread([parameter.data, *(optimizer.state[parameter][moment] for moment in MOMENTS)])
    return position


def _read(path: Path, bert: nn.Module, optimizer: torch.optim.Optimizer) -> Position:
    try:
        with safe_open(path, "pt") as file:
            for name, parameter in bert.named_parameters():
                parameter.data.copy_(file.get_tensor(f"weight.{name}"))
                if parameter.requires_grad:
                    optimizer.state[parameter] = {moment: file.get_tensor(f"{moment}.{name}").to(parameter.device)
                                                  for moment in MOMENTS}
            return Position(**json.loads(file.metadata()["position"]))
    except (safetensors.SafetensorError, KeyError, OSError) as error:
        raise CheckpointProblem(f"{path} is damaged, the run cannot go on from it ({error}).") from None


def _learned(bert: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in bert.parameters() if parameter.requires_grad]


@contextmanager
def writing(path: Path):
    """A path to write to; only when all of it is on the disk does it take the place of `path`."""
    made = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield made
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        files.replace(made, path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


@contextmanager
def reporting_full_disk(folder: Path):
    """Say in words that there is no room; what was saved before is untouched."""
    try:
        yield
    except (OSError, safetensors.SafetensorError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full or any(sign in str(error).lower() for sign in ("no space left", "file too large", "quota")):
            raise CheckpointProblem(f"There is no room left on the disk of {folder}; what was saved before is intact. "
                                    "Make room and resume.") from None
        raise
