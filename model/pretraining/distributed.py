"""Several processes that train one model (torch.distributed); without torchrun every function is a no-op."""

import os
import sys
from collections.abc import Iterable
from typing import NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

T = TypeVar("T")


def init() -> None:
    """Join the process group when `torchrun` started this process; otherwise do nothing."""
    if "WORLD_SIZE" in os.environ and int(os.environ["WORLD_SIZE"]) > 1 and not dist.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


def shutdown() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


def exit_process(code: int) -> NoReturn:
    """End this process; among several at once, because gloo's threads outlive their group and may abort its end."""
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def world_size() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def is_local_main() -> bool:
    """Whether this is the first process of its machine, which prepares the files that all on it read."""
    return not dist.is_initialized() or int(os.environ.get("LOCAL_RANK", 0)) == 0


def device() -> torch.device:
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")


def barrier() -> None:
    if dist.is_initialized():
        dist.barrier()


def broadcast_object(value: T) -> T:
    """The first process's value, in all of them."""
    if not dist.is_initialized():
        return value
    values = [value]
    dist.broadcast_object_list(values, src=0, device=device())
    return values[0]


def any_rank(flag: bool) -> bool:
    """Whether the flag is True in any process."""
    if not dist.is_initialized():
        return flag
    count = torch.tensor([int(flag)], device=device())
    dist.all_reduce(count)
    return bool(count.item())


def all_reduce(values: Tensor) -> Tensor:
    """The sum over all processes."""
    if dist.is_initialized():
        dist.all_reduce(values)
    return values


def broadcast(tensors: Iterable[Tensor]) -> None:
    """Overwrite tensors with the first process's."""
    if dist.is_initialized():
        for tensor in tensors:
            dist.broadcast(tensor, src=0)


def wrap_ddp(module: nn.Module) -> nn.Module:
    """The module with its gradients averaged over all processes."""
    return nn.parallel.DistributedDataParallel(module) if dist.is_initialized() else module
