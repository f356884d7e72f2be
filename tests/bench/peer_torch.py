#!/usr/bin/env python3
"""Training speed of PyTorch on the model, batch and optimizer of an llmtool configuration, for a comparison side by side.

    python3 tests/bench/peer_torch.py --n-layer 4 --n-head 4 --n-embd 128 --block-size 64 --batch-size 12 --threads 2 \
        [--compile] --data book.txt

The usual fast form: fused query, key and value, scaled_dot_product_attention, fused AdamW, clipping, fp32. Characters
are tokens. Prints the tokens per second of each of five rounds, and their median. Not a test: nothing depends on it.
"""
import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (t.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocab, layers, heads, width, block):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("n-layer", 4), ("n-head", 4), ("n-embd", 128), ("block-size", 64), ("batch-size", 12),
                        ("threads", 2), ("seconds", 8)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--data", required=True)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(42)
    text = open(a.data, encoding="utf-8").read()
    chars = sorted(set(text))
    index = {c: i for i, c in enumerate(chars)}
    data = torch.tensor([index[c] for c in text])
    model = GPT(len(chars), a.n_layer, a.n_head, a.n_embd, a.block_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    loss_of = torch.compile(model) if a.compile else model

    def step():
        at = torch.randint(len(data) - a.block_size - 1, (a.batch_size,)).tolist()
        ids = torch.stack([data[i:i + a.block_size] for i in at])
        targets = torch.stack([data[i + 1:i + 1 + a.block_size] for i in at])
        loss = loss_of(ids, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    for _ in range(5):
        loss = step()
    speeds = []
    for _ in range(5):
        began, steps = time.perf_counter(), 0
        while time.perf_counter() - began < a.seconds:
            loss = step()
            steps += 1
        speeds.append(steps * a.batch_size * a.block_size / (time.perf_counter() - began))
    print(f"torch {torch.__version__}, {a.threads} threads{', compiled' if a.compile else ''}: "
          f"{[round(s) for s in speeds]} tokens/s, median {statistics.median(speeds):.0f}, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
