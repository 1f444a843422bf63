"""The package with torch on a machine without a GPU: registration, fakes, gradients, switches. Tests are theorems.

    PYTHONPATH=FOLDER_WITH_THE_PACKAGE python tests/torch/without_gpu.py
"""

import ctypes
import os
import unittest
import warnings

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

import gemmsmith
import gemmsmith._aten
import gemmsmith._patch
import gemmsmith.ops


def kernel_of(operator: str) -> str:
    """The line of the dispatcher's table that says who serves it on CUDA."""
    table = torch._C._dispatch_dump_table(operator)
    return next(line for line in table.splitlines() if line.startswith("CUDA:"))


def f64(*shape, requires_grad=True):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=requires_grad)


class Patch(unittest.TestCase):
    def tearDown(self):
        gemmsmith.unpatch()

    def assert_patched(self, expected):
        for operator in ("aten::mm", "aten::mm.out"):
            self.assertEqual("kernels.cc" in kernel_of(operator), expected, kernel_of(operator))
        for operator in ("aten::addmm", "aten::bmm"):
            self.assertNotIn("kernels.cc", kernel_of(operator))
        self.assertEqual("gemmsmith" in torch.compiler.config.cache_key_tag, expected)

    def test_it_replaces_mm_and_undoes_it(self):
        self.assert_patched(False)
        for _ in range(2):
            self.assertTrue(gemmsmith.patch())
            self.assertTrue(gemmsmith.patch())
            self.assert_patched(True)
            gemmsmith.unpatch()
            gemmsmith.unpatch()
            self.assert_patched(False)

    def test_a_block_is_patched_to_its_end_also_by_an_exception(self):
        with self.assertRaises(KeyError), gemmsmith.patched():
            with gemmsmith.patched():
                pass
            self.assert_patched(True)
            raise KeyError
        self.assert_patched(False)

    def test_a_block_leaves_an_earlier_patch(self):
        gemmsmith.patch()
        with gemmsmith.patched():
            pass
        self.assert_patched(True)

    def test_what_the_user_prefers_stays(self):
        torch.cuda.tunable.enable(True)
        try:
            with self.assertWarnsRegex(UserWarning, "TunableOp"):
                self.assertFalse(gemmsmith.patch())
        finally:
            torch.cuda.tunable.enable(False)
        self.assert_patched(False)

    def test_a_preferred_library_stays(self):
        torch.backends.cuda.preferred_blas_library("cublaslt")
        try:
            with self.assertWarnsRegex(UserWarning, "Cublaslt"):
                self.assertFalse(gemmsmith.patch())
        finally:
            torch.backends.cuda.preferred_blas_library("default")
        self.assertTrue(gemmsmith.patch())

    def test_products_on_the_cpu_are_torch_s(self):
        a, b = f64(4, 5), f64(5, 6)
        expected, before = a @ b, gemmsmith.calls()
        with gemmsmith.patched():
            self.assertTrue(torch.equal(a @ b, expected))
        self.assertEqual(gemmsmith.calls(), before)


class Operator(unittest.TestCase):
    def test_it_has_a_kernel_for_every_key(self):
        for key in ("CPU", "CUDA", "AutocastCUDA"):
            self.assertTrue(torch._C._dispatch_has_kernel_for_dispatch_key("gemmsmith::mm", key), key)
        self.assertIn("kernels.cc", kernel_of("gemmsmith::mm"))

    def test_opcheck(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            for requires_grad in (False, True):
                a = torch.randn(8, 12, dtype=dtype, requires_grad=requires_grad)
                b = torch.randn(10, 12, dtype=dtype).t().requires_grad_(requires_grad)
                torch.library.opcheck(torch.ops.gemmsmith.mm.default, (a, b), rtol=1e-2, atol=1e-2)

    def test_gradients_of_the_first_and_the_second_order(self):
        products = {
            "mm": lambda a, b, bias: gemmsmith.ops.mm(a, b),
            "addmm": lambda a, b, bias: gemmsmith.ops.addmm(bias, a, b, beta=0.5, alpha=2),
            "linear": lambda a, b, bias: gemmsmith.ops.linear(a, b.t()),
            "linear, bias, gelu": lambda a, b, bias: gemmsmith.ops.linear(a, b.t(), bias, "gelu"),
            "bmm": lambda a, b, bias: gemmsmith.ops.bmm(a[None], b[None]),
        }
        for name, product in products.items():
            with self.subTest(name):
                inputs = (f64(3, 4), f64(4, 5), f64(5))
                self.assertTrue(torch.autograd.gradcheck(product, inputs))
                self.assertTrue(torch.autograd.gradgradcheck(product, inputs))

    def test_one_gradient_saves_one_operand(self):
        a, b = f64(3, 4), f64(4, 5, requires_grad=False)
        gemmsmith.ops.mm(a, b).sum().backward()
        torch.testing.assert_close(a.grad, b.sum(1).expand(3, 4))
        self.assertIsNone(b.grad)

    def test_linear_is_torch_s(self):
        activations = {"none": lambda y: y, "relu": F.relu, "gelu": lambda y: F.gelu(y, approximate="tanh")}
        for name, activation in activations.items():
            for bias in (None, f64(7)):
                x, w = f64(2, 3, 4), f64(7, 4)
                torch.testing.assert_close(gemmsmith.ops.linear(x, w, bias, name), activation(F.linear(x, w, bias)))
        with self.assertRaisesRegex(ValueError, "none, relu, gelu, not 'swish'"):
            gemmsmith.ops.linear(f64(2, 4), f64(7, 4), activation="swish")

    def test_vmap_is_a_loop(self):
        a, b = f64(5, 3, 4), f64(5, 4, 6)
        for in_dims, x, y in ((0, a, b), ((0, None), a, b[0]), ((None, 0), a[0], b), ((1, 2), a.movedim(0, 1), b.movedim(0, 2))):
            torch.testing.assert_close(torch.vmap(gemmsmith.ops.mm, in_dims)(x, y), torch.vmap(torch.mm, in_dims)(x, y))

    def test_a_fake_of_a_gpu_has_the_shape_and_the_strides(self):
        with FakeTensorMode():
            a = torch.empty(8, 12, dtype=torch.bfloat16, device="cuda")
            b = torch.empty(10, 12, dtype=torch.bfloat16, device="cuda").t()
            y = gemmsmith.ops.mm(a, b)
        self.assertEqual((tuple(y.shape), y.stride(), y.dtype, y.device.type), ((8, 10), (10, 1), torch.bfloat16, "cuda"))

    def test_a_wrong_shape_is_said_in_torch_s_words(self):
        for a, b in ((f64(2, 3), f64(2, 3)), (f64(3), f64(3, 2))):
            messages = []
            for product in (torch.mm, gemmsmith.ops.mm, lambda a, b: gemmsmith.ops.mm(a.to("meta"), b.to("meta"))):
                with self.assertRaises(RuntimeError) as caught:
                    product(a, b)
                messages.append(str(caught.exception).splitlines()[0])
            for message in messages:  # newer ones begin with "mm: "
                self.assertTrue(messages[0].endswith(message), messages)

    def test_it_compiles_into_one_graph(self):
        product = torch.compile(lambda x, w: gemmsmith.ops.linear(x, w).relu(), backend="aot_eager", fullgraph=True)
        x, w = f64(2, 3, 4), f64(7, 4)
        torch.testing.assert_close(product(x, w), F.linear(x, w).relu())


class ConstantWeights(unittest.TestCase):
    def is_constant(self, tensor):
        is_constant = gemmsmith._aten.aten().gemmsmith_aten_is_constant_weight
        is_constant.argtypes = [ctypes.c_void_p]
        return bool(is_constant(tensor.data_ptr()))

    def test_a_promise_holds_until_its_end(self):
        a, b, other = torch.zeros(4, 6), torch.zeros(3, 3), torch.zeros(5)
        with gemmsmith._patch.ConstantWeights([a, a[1], a.t(), b]):  # tied and nested ones are one
            self.assertEqual([self.is_constant(t) for t in (a, a[3], a.t(), a[3, 5], b, other)], [True] * 5 + [False])
            with gemmsmith._patch.ConstantWeights([a, other, torch.zeros(0)]):
                self.assertTrue(self.is_constant(other))
            self.assertEqual([self.is_constant(t) for t in (a, other)], [True, False])
        self.assertFalse(any(self.is_constant(t) for t in (a, b, other)))

    def test_only_the_view_that_was_promised_is_constant(self):
        whole = torch.zeros(4, 6)
        with gemmsmith._patch.ConstantWeights([whole[1:3]]):
            self.assertEqual([self.is_constant(row) for row in whole], [False, True, True, False])

    def test_the_memory_is_held_while_the_promise_stands(self):
        weight = torch.zeros(1000)
        storage = torch.multiprocessing.reductions.StorageWeakRef(weight.untyped_storage())
        promise = gemmsmith._patch.ConstantWeights([weight])
        del weight
        self.assertFalse(storage.expired())
        promise.remove()
        promise.remove()
        self.assertTrue(storage.expired())

    def test_a_promise_ends_with_its_module(self):
        layer = torch.nn.Linear(4, 4).eval()
        gemmsmith.constant_weights(layer)
        self.assertEqual(len(gemmsmith._patch._promises), 1)
        del layer
        self.assertEqual(len(gemmsmith._patch._promises), 0)

    def test_a_module_in_training_is_refused(self):
        with self.assertRaisesRegex(ValueError, "eval"):
            gemmsmith.constant_weights(torch.nn.Linear(4, 4))


if __name__ == "__main__":
    warnings.simplefilter("error", DeprecationWarning)
    unittest.main()
