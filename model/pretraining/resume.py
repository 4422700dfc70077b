"""What a broken-off run needs to go on as if nothing had happened: one file, replaced whole."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import safetensors
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from ..errors import CheckpointError
from ..files import atomic_write
from . import distributed

MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass
class TrainingState:
    """How far a run is. The order of the data, the masking and the dropout follow from the seed and the step."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0


def save(path: Path, state: TrainingState, bert: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write weights, optimizer moments and state into one file, whole or not at all."""
    tensors = {}
    for name, parameter in bert.named_parameters():
        tensors[f"weight.{name}"] = parameter.detach().cpu()
        for moment in MOMENTS:
            if parameter.requires_grad:
                tensors[f"{moment}.{name}"] = optimizer.state[parameter][moment].cpu()
    with atomic_write(path) as temporary:
        save_file(tensors, temporary, metadata={"state": json.dumps(asdict(state))})


def restore(path: Path, bert: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
    """Put weights and optimizer back as they were, in every process; nothing changes where nothing was saved."""
    if not distributed.broadcast_object(path.is_file()):
        return TrainingState()
    state = distributed.broadcast_object(_read(path, bert, optimizer) if distributed.rank() == 0 else TrainingState())
    for parameter in _trainable(bert):
        if distributed.rank():
            optimizer.state[parameter] = {moment: torch.zeros_like(parameter) for moment in MOMENTS}
        optimizer.state[parameter]["step"] = torch.tensor(float(state.step), device=parameter.device)
        distributed.broadcast([parameter.data, *(optimizer.state[parameter][moment] for moment in MOMENTS)])
    return state


def _read(path: Path, bert: nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
    try:
        with safe_open(path, "pt") as file:
            for name, parameter in bert.named_parameters():
                parameter.data.copy_(file.get_tensor(f"weight.{name}"))
                if parameter.requires_grad:
                    optimizer.state[parameter] = {
                        moment: file.get_tensor(f"{moment}.{name}").to(parameter.device) for moment in MOMENTS
                    }
            return TrainingState(**json.loads(file.metadata()["state"]))
    except (safetensors.SafetensorError, KeyError, OSError) as error:
        raise CheckpointError(f"{path} is damaged, the run cannot go on from it ({error}).") from None


def _trainable(bert: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in bert.parameters() if parameter.requires_grad]
