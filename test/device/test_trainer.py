# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The trainer on a GPU: 200 steps in fp32 with the losses of the CPU, and checkpoints that either can go on from."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import terrazzo as tz

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")

SETTINGS = ("train.eval_every=0", "train.checkpoint_every=100", "sample.tokens=4", "data.context=64", "model.layers=2",
            "model.width=64", "model.heads=4", "model.kv_heads=2", "model.mlp_width=192", "train.batch=8",
            "train.max_minutes=0", "eval.final_tokens=2000")  # fmt: skip


def trainer(*arguments):
    env = {**os.environ, "PYTHONPATH": str(Path(tz.__file__).parent.parent)}
    command = [sys.executable, "-m", "terrazzo.trainer", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def losses(run):
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [record["loss"] for record in records if record["event"] == "step"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for number, file in enumerate(sorted(Path(tz.__file__).parent.rglob("*.py"))):
        (folder / f"{number:03}.txt").write_bytes(file.read_bytes())
    return folder


@pytest.mark.parametrize("family", ["transformer", "mamba"])
def test_200_steps_agree_with_the_cpu(family, text, tmp_path, target):
    found = {}
    for name in ("cpu", target):
        trainer("train", "--preset", "smoke", "--run", tmp_path / name, "--target", name, f"data.path={text}",
                f"model.family={family}", "train.steps=200", *SETTINGS)  # fmt: skip
        found[name] = losses(tmp_path / name)
    cpu, gpu = found["cpu"], found[target]
    assert len(cpu) == len(gpu) == 200
    assert cpu[-1] < 0.8 * cpu[0]
    worst = max(abs(a - b) for a, b in zip(cpu, gpu))
    print(f"{family}: losses differ by {worst:.2e} at most over 200 steps, by {abs(cpu[-1] - gpu[-1]):.2e} at the end")
    assert abs(cpu[-1] - gpu[-1]) < 1e-3


def test_a_run_goes_on_on_the_other_device(text, tmp_path, target):
    trainer("train", "--preset", "smoke", "--run", tmp_path / "run", "--target", target, f"data.path={text}",
            "train.steps=20", *SETTINGS)  # fmt: skip
    trainer("resume", tmp_path / "run", "train.steps=30", "--target", "cpu")
    trainer("sample", tmp_path / "run", "--target", target)
    assert len(losses(tmp_path / "run")) == 30
