"""A fast path gives what torch's plain operation gives, or is not taken."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model import Bert, kernels
from tests.conftest import ROOT

TEXT = "the cat sat on the mat ."


def forget() -> None:
    """The cached results of the self-checks and of the switch."""
    for check in (kernels.plain, kernels._pointwise_agrees, kernels._halves_agree):
        check.cache_clear()


@pytest.fixture
def first_use(monkeypatch):
    monkeypatch.delenv("BERTSCOPE_PLAIN", raising=False)
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8)])
def test_a_product_is_the_same_whether_somebody_learns_from_it_or_not(shape):
    x, weight, bias = torch.randn(shape), torch.randn(5, 8), torch.randn(5)
    np.testing.assert_allclose(kernels.linear(x, weight, bias), F.linear(x, weight, bias), atol=1e-6)
    learned = kernels.linear(x, weight.requires_grad_(), bias)
    learned.sum().backward()
    assert weight.grad is not None
    np.testing.assert_allclose(weight.grad, x.reshape(-1, 8).sum(0).expand(5, -1), atol=1e-5)


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_biases_alone_can_learn(tiny_bert, mode, monkeypatch, first_use):
    """BitFit, Ben Zaken et al. (2022); without the normalisations' biases nothing before the first product is learned."""
    config = replace(tiny_bert.config, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    bert = getattr(Bert.random_init(config, tiny_bert.tokenizer, seed=3), mode)()
    for name, parameter in bert.named_parameters():
        parameter.requires_grad_(name.endswith("bias") and "norm" not in name)
    encoding = bert.tokenizer.encode(TEXT)

    def gradients() -> dict[str, torch.Tensor]:
        bert.zero_grad()
        states = bert(encoding)
        (bert.mlm_logits(states[0, 2:4]).square().sum() + bert.nsp_logits(states).square().sum()).backward()
        return {name: parameter.grad.clone() for name, parameter in bert.named_parameters() if parameter.requires_grad}

    ours = gradients()
    monkeypatch.setenv("BERTSCOPE_PLAIN", "1")
    forget()
    expected = gradients()
    assert len(ours) == 6 * 2 + 2 + 2
    for name, gradient in expected.items():
        torch.testing.assert_close(ours[name], gradient, atol=1e-5, rtol=1e-5, msg=name)
        assert gradient.any() or name.endswith("key.bias"), name  # a key's bias moves all scores of a row alike


def test_a_torch_without_the_private_operation_computes_the_same(tiny_bert, monkeypatch, first_use):
    expected = tiny_bert.trace(TEXT).hidden
    forget()
    monkeypatch.setattr(torch.ops, "mkldnn", torch.ops.there_is_no_such_namespace)
    np.testing.assert_allclose(tiny_bert.trace(TEXT).hidden, expected, atol=1e-5)
    assert not kernels._pointwise_agrees()


def test_a_private_operation_that_computes_something_else_is_left_alone(tiny_bert, monkeypatch, first_use):
    expected = tiny_bert.trace(TEXT).hidden
    forget()
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", lambda x, weight, bias, *_: F.linear(x, weight))
    np.testing.assert_allclose(tiny_bert.trace(TEXT).hidden, expected, atol=1e-5)


def test_the_check_draws_nothing_from_the_generator_of_the_caller(first_use):
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    kernels.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(("value", "taken"), [("1", "False"), ("0", "True"), ("", "True")])
def test_one_switch_turns_every_fast_path_off(value, taken):
    code = (
        "import os, torch; from model import kernels; torch.ops.mkldnn._linear_pointwise\n"
        "kernels.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))\n"
        "kernels.cache_primitives()\n"
        "print(kernels._halves_agree(), kernels._pointwise_agrees() or not torch.backends.mkldnn.is_available(), "
        "'ONEDNN_PRIMITIVE_CACHE_CAPACITY' in os.environ)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={name: text for name, text in os.environ.items() if name != "ONEDNN_PRIMITIVE_CACHE_CAPACITY"}
        | {"BERTSCOPE_PLAIN": value},
    )
    assert process.stdout.split() == [taken] * 3


def test_plain_means_single_precision_on_a_processor(monkeypatch, first_use):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert kernels.fastest_precision() == "bfloat16"
    monkeypatch.setenv("BERTSCOPE_PLAIN", "1")
    forget()
    assert kernels.fastest_precision() == "float32"


def test_private_operations_of_torch_are_named_in_kernels_only():
    private = re.compile(r"torch(\.\w+)*\._[a-z]\w*|\bctypes\b|ONEDNN_|mallopt")
    paths = [path for room in ("model", "probes", "app") for path in (ROOT / room).rglob("*.py")]
    users = {path.relative_to(ROOT).as_posix() for path in paths if private.search(path.read_text(encoding="utf-8"))}
    assert users == {"model/kernels.py"}
