"""The network that table 1 of the paper tunes: two convolutional and two fully connected layers, on MNIST.

The paper gives the five hyper-parameters, 10,000 training images of the first 50,000, 5 epochs and the accuracy on the
whole test set. It leaves open, and here it is (as in the MNIST example of PyTorch at the time, where that says):

- 10 and 20 channels, no padding, each convolution followed by a 2 x 2 maximum and a rectifier, then a layer of
  `hidden_nodes` rectifiers and one of 10 outputs; cross-entropy;
- plain stochastic gradient descent: no momentum, no weight decay, a constant rate, no dropout;
- pixels less .1307, divided by .3081; weights and biases uniform within 1/sqrt(inputs) of 0, PyTorch's default;
- every epoch goes through all images in a new order; the last batch of an epoch may be smaller and counts as well.

Initial weights and orders are drawn by NumPy from the training's key and copied to the device, so that a CPU and a GPU
train the same network on the same batches and differ by rounding alone. One seed gives one result on one device:
convolutions are asked for deterministic algorithms, in full single precision.

On a GPU a step of a small batch is forty tiny kernels, and starting them takes longer than running them. There the
first steps run one by one, then a step is captured as a CUDA graph and replayed; the small last batch of an epoch runs
one by one again. The graph holds the very kernels of the step, so the updates are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from fetch_mnist import from_folder, read_idx
from numpy.typing import NDArray

from quadrat.randomness import generator

if TYPE_CHECKING:
    import torch

    Tensor: TypeAlias = torch.Tensor

EPOCHS = 5
CHANNELS = (10, 20)
_SIDE, _CLASSES = 28, 10
_MEAN, _DEVIATION = 0.1307, 0.3081  # of the pixels of the training images, 0 to 1
_EAGER = 3  # steps before the capture, in which the libraries choose their kernels
_TEST_BATCH = 2000  # bounds the memory of the largest layer: 63 MB


@dataclass(frozen=True)
class Mnist:
    """Images (N, 28, 28) and labels (N,) as published, unsigned bytes: 60,000 for training, 10,000 for testing."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]


def load(folder: Path) -> Mnist:
    """Read the four files that fetch_mnist.py keeps, which it has checked.

    Raises
    ------
    FileNotFoundError
        One of them is not there.
    """
    train, test = (
        [read_idx(from_folder(folder, f"{part}-{kind}-ubyte")) for kind in ("images-idx3", "labels-idx1")]
        for part in ("train", "t10k")
    )
    return Mnist(train[0], train[1], test[0], test[1])


def to_device(images: NDArray[np.uint8], labels: NDArray[np.uint8], device: str) -> tuple[Tensor, Tensor]:
    """Return images as the network sees them, float32 (N, 1, 28, 28), and labels, int64 (N,), on the device."""
    import torch

    pixels = torch.tensor(images, device=device).unsqueeze(1).float() / 255
    return (pixels - _MEAN) / _DEVIATION, torch.tensor(labels, device=device).long()


def shapes(kernel_1: int, kernel_2: int, hidden_nodes: int) -> list[tuple[int, ...]]:
    """Shapes of the four weights, each (outputs, inputs...).

    Examples
    --------
    >>> shapes(5, 5, 40)
    [(10, 1, 5, 5), (20, 10, 5, 5), (40, 320), (10, 40)]
    >>> shapes(9, 9, 40)[2]  # 28 -> 20 -> 10 -> 2 -> 1
    (40, 20)
    """
    side = ((_SIDE - kernel_1 + 1) // 2 - kernel_2 + 1) // 2
    first, second = CHANNELS
    return [
        (first, 1, kernel_1, kernel_1),
        (second, first, kernel_2, kernel_2),
        (hidden_nodes, second * side * side),
        (_CLASSES, hidden_nodes),
    ]


def train(
    params: Mapping[str, Any],
    images: Tensor,
    labels: Tensor,
    test_images: Tensor,
    test_labels: Tensor,
    seed: tuple[int, ...],
    device: str,
    *,
    graph: bool = True,
) -> float:
    """Train one network and return its accuracy on the test set, in [0, 1].

    A rate at which training diverges gives an accuracy near .1, the share of one class, and no error.

    Parameters
    ----------
    params
        batch_size, kernel_1, kernel_2, hidden_nodes, log_learning_rate (to base 10).
    images, labels, test_images, test_labels
        From `to_device`.
    seed
        Key of the stream that draws weights and orders.
    device
        "cpu" or "cuda".
    graph
        Whether a GPU replays captured steps; a CPU never does.
    """
    import torch
    from torch.nn import functional as nn

    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.allow_tf32 = False
    rng = generator(*seed)
    weights: list[Tensor] = []
    for shape in shapes(params["kernel_1"], params["kernel_2"], params["hidden_nodes"]):
        bound = 1 / sqrt(prod(shape[1:]))
        for size in (shape, shape[:1]):  # the weights, then the biases
            drawn = rng.uniform(-bound, bound, size).astype(np.float32)
            weights.append(torch.tensor(drawn, device=device).requires_grad_())
    n, batch = len(images), min(int(params["batch_size"]), len(images))
    order = torch.tensor(np.concatenate([rng.permutation(n) for _ in range(EPOCHS)]), device=device)
    rate = 10.0 ** params["log_learning_rate"]

    def outputs(pixels: Tensor) -> Tensor:
        w1, b1, w2, b2, w3, b3, w4, b4 = weights
        maps = nn.relu(nn.max_pool2d(nn.conv2d(pixels, w1, b1), 2))
        maps = nn.relu(nn.max_pool2d(nn.conv2d(maps, w2, b2), 2))
        return nn.linear(nn.relu(nn.linear(maps.flatten(1), w3, b3)), w4, b4)

    def step(rows: Tensor) -> None:
        loss = nn.cross_entropy(outputs(images.index_select(0, rows)), labels.index_select(0, rows))
        slopes = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            torch._foreach_add_(weights, slopes, alpha=-rate)  # one kernel for all eight tensors

    if device != "cpu" and graph:
        _replayed(step, order, n, batch)
    else:
        for epoch in order.split(n):
            for rows in epoch.split(batch):
                step(rows)
    right = torch.zeros((), dtype=torch.int64, device=device)
    with torch.no_grad():
        for pixels, truth in zip(test_images.split(_TEST_BATCH), test_labels.split(_TEST_BATCH), strict=True):
            right += (outputs(pixels).argmax(1) == truth).sum()
    return int(right) / len(test_labels)


@cache
def _stream() -> Any:
    """The stream of all trainings of this process: not the default one, which cannot be captured."""
    import torch

    return torch.cuda.Stream()


def _replayed(step: Callable[[Tensor], None], order: Tensor, n: int, batch: int) -> None:
    """Do every step on a GPU: full batches by replaying one captured step, all others one by one.

    Parameters
    ----------
    step
        One update from the images with these indices.
    order
        Indices of images, epoch after epoch, shape (epochs n,).
    n, batch
        Images of an epoch and of a batch.
    """
    import torch

    stream = _stream()
    stream.wait_stream(torch.cuda.current_stream())
    full = n // batch
    graph: torch.cuda.CUDAGraph | None = None
    with torch.cuda.stream(stream):
        first = torch.arange(batch, device=order.device)
        places = first.clone()  # in `order`; the captured step reads it and moves it on
        for start in range(0, len(order), n):
            done = 0
            if graph is None:
                done = min(_EAGER, full)
                for i in range(done):  # these count: they are the first updates
                    step(order[start + i * batch : start + (i + 1) * batch])
                if done < full:
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph, stream=stream):  # records, and runs nothing
                        step(order.index_select(0, places))
                        places.add_(batch)
            if graph is not None:
                places.copy_(first + (start + done * batch))
                for _ in range(full - done):
                    graph.replay()
            if full * batch < n:
                step(order[start + full * batch : start + n])
            ended = torch.cuda.Event(blocking=True)  # waiting must not keep a core busy that another process needs
            ended.record()
            ended.synchronize()
    torch.cuda.current_stream().wait_stream(stream)
