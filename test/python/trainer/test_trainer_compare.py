# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`compare`: figures, bound, exit status, and logs that cannot be compared."""

import json
from pathlib import Path

import pytest
from terrazzo.trainer import cli
from terrazzo.trainer.compare import difference
from terrazzo.trainer.errors import LogError


def write(path: Path, losses: list[float]) -> str:
    records = [{"event": "start", "step": 0}]
    records += [{"event": "step", "step": step, "loss": loss} for step, loss in enumerate(losses, 1)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_figures():
    result = difference({1: 3.0, 2: 2.0, 3: 1.0, 9: 0.0}, {1: 3.0, 2: 2.25, 3: 0.5})
    assert (result.steps, result.maximum, result.maximum_step, result.first_divergent) == (3, 0.5, 3, 2)
    assert result.mean == pytest.approx(0.25)


def test_bound_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    a, b = write(tmp_path / "a.jsonl", [3.0, 2.0, 1.0]), write(tmp_path / "b.jsonl", [3.0, 2.0, 1.001])
    assert cli.main(["compare", a, a]) == 0
    assert "first divergent step  none" in capsys.readouterr().out
    assert cli.main(["compare", a, b]) == 1
    out = capsys.readouterr().out
    assert "first divergent step  3" in out and "FAILED" in out and "1.000e-03 (step 3)" in out
    assert cli.main(["compare", a, b, "--bound", "2e-3"]) == 0


def test_nan_never_passes(tmp_path: Path):
    a, b = write(tmp_path / "a.jsonl", [3.0, float("nan")]), write(tmp_path / "b.jsonl", [3.0, 2.0])
    assert cli.main(["compare", a, b, "--bound", "1e9"]) == 1
    assert cli.main(["compare", b, a, "--bound", "1e9"]) == 1


@pytest.mark.parametrize("text", ["", "{\n", '{"event": "step"}\n', "[1]\n", '{"event": "eval", "step": 1}\n'])
def test_unusable_logs(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "bad.jsonl").write_text(text)
    assert cli.main(["compare", write(tmp_path / "a.jsonl", [1.0]), str(tmp_path / "bad.jsonl")]) == 2
    assert "bad.jsonl" in capsys.readouterr().err


def test_no_common_step():
    with pytest.raises(LogError, match="no step in common"):
        difference({1: 1.0}, {2: 1.0})
