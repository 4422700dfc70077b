"""A second device, played: tensors that claim to be on cuda:0 and, as CUDA does, refuse to be computed together with
tensors of this processor. Most machines have no real one."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

OTHER = torch.device("cuda", 0)
# CUDA too takes indices from the processor, and copies between devices where it writes
ACROSS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.Tensor.copy_)


class Elsewhere(torch.Tensor):
    """A tensor of the other device."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function == torch.Tensor.device.__get__:
            return OTHER
        if function is torch.Tensor.numpy:
            raise TypeError("cannot convert a tensor of another device to numpy")
        if function is torch.Tensor.cpu:
            with torch._C.DisableTorchFunctionSubclass():
                return args[0].as_subclass(torch.Tensor)
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if function not in ACROSS and any(not isinstance(one, Elsewhere) and one.dim() for one in tensors):
            raise RuntimeError(f"{function} got tensors of two devices")
        return super().__torch_function__(function, types, args, kwargs)


def _devices(args, kwargs) -> list:
    return [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.device)]


class TwoDevices(TorchFunctionMode):
    """Whoever asks for the other device, in making a tensor or in moving it, gets tensors of it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if OTHER not in _devices(args, kwargs):
            return function(*args, **kwargs)

        def here(leaf):
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

        with torch._C.DisableTorchFunctionSubclass():
            tensor = function(*map(here, args), **{name: here(value) for name, value in kwargs.items()})
            return tensor.as_subclass(Elsewhere)
