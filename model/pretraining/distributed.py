"""Several processes that train one model: who I am, and agreeing with the others. Alone, all of it is free."""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

T = TypeVar("T")


def join() -> None:
    """Meet the other processes when `torchrun` started this one; otherwise stay alone."""
    if "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1 and not dist.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


def leave() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def end(code: int) -> NoReturn:
    """Leave Python; among several processes at once, because gloo's threads outlive their group and may abort its end."""
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def size() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def first_here() -> bool:
    """Whether this is the first process of its machine, which prepares the files that all on it read."""
    return not dist.is_initialized() or int(os.environ.get("LOCAL_RANK", 0)) == 0


def device() -> torch.device:
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")


def wait() -> None:
    if dist.is_initialized():
        dist.barrier()


def agreed(value: T) -> T:
    """The first process's value, in all of them."""
    if not dist.is_initialized():
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0, device=device())
    return box[0]


def any_of(flag: bool) -> bool:
    """Whether the flag is up in any process."""
    if not dist.is_initialized():
        return flag
    raised = torch.tensor([int(flag)], device=device())
    dist.all_reduce(raised)
    return bool(raised.item())


def summed(values: Tensor) -> Tensor:
    """The sum over all processes."""
    if dist.is_initialized():
        dist.all_reduce(values)
    return values


def spread(tensors: Iterable[Tensor]) -> None:
    """Overwrite tensors with the first process's."""
    if dist.is_initialized():
        for tensor in tensors:
            dist.broadcast(tensor, src=0)


def shared(module: nn.Module) -> nn.Module:
    """The module with its gradients averaged over all processes."""
    return nn.parallel.DistributedDataParallel(module) if dist.is_initialized() else module
