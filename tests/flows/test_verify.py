"""VERIFY: what the referee gets of an original and a candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.flows import verify as flow
from warpsmith.flows.verify import verify_candidate
from warpsmith.front.load import FrontOptions
from warpsmith.run.verification import HarnessFunction, Sources, Verification, VerifyOptions

ORIGINAL = """static int hidden(int x) { return x; }
void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] = hidden(i); }
"""
MAIN = f"{ORIGINAL}int main(void) {{ return 0; }}\n"


class Seen:
    """Keeps what the referee was asked."""

    asked: tuple[Sources, Sources, VerifyOptions, tuple[HarnessFunction, ...]]

    def __call__(self, *asked: object) -> Verification:
        self.asked = asked  # type: ignore[assignment]
        return Verification("pass")


def seen(monkeypatch: pytest.MonkeyPatch, folder: Path, original: str) -> Seen:
    found = Seen()
    monkeypatch.setattr(flow, "verify", found)
    (folder / "a.c").write_text(original)
    (folder / "b.c").write_text("caf\xe9\n", encoding="latin-1")
    front = FrontOptions(arguments=("-DX",))
    assert verify_candidate([str(folder / "a.c")], [str(folder / "b.c")], front, VerifyOptions()).status == "pass"
    return found


def test_both_are_compiled_as_they_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reference, judged, *_ = seen(monkeypatch, tmp_path, MAIN).asked
    assert [(one.path, one.text) for one in reference.files] == [("a.c", MAIN)]
    assert judged.files[0].text == "caf\xe9\n" and judged.directory == str(tmp_path) and judged.arguments == ("-DX",)


def test_functions_are_called_where_there_is_no_main(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert seen(monkeypatch, tmp_path, MAIN).asked[3] == ()
    (harness,) = seen(monkeypatch, tmp_path, ORIGINAL).asked[3]
    # nobody calls a static one from outside
    assert harness.function.symbol.name == "f" and [symbol.name for symbol in harness.extents] == ["a"]


def test_device_code_that_uses_the_hosts_fails_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    misplaced = (Finding("VER049", "error", "words"),)
    monkeypatch.setattr(flow, "host_uses", lambda judged: misplaced)
    monkeypatch.setattr(flow, "verify", None)
    (tmp_path / "a.c").write_text(MAIN)
    path = str(tmp_path / "a.c")
    found = verify_candidate([path], [path], FrontOptions(), VerifyOptions())
    assert (found.status, found.reasons, found.output_equal) == ("fail", misplaced, False)


def test_a_candidate_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(MAIN)
    with pytest.raises(InputError, match=r"cannot read .*b\.c: no such file or directory"):
        verify_candidate([str(tmp_path / "a.c")], [str(tmp_path / "b.c")], FrontOptions(), VerifyOptions())
