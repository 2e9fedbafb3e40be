"""How the body of a thread reads whose warp shares loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.mapping.sharing.test_shared_loops import body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what was there before counts once; all lanes have read it when one stores
        (
            "for (int j = 0; j < m; j++) y[i] += A[i][j];",
            "double y_value = y_gpu[i]; y_value = lane == 0 ? y_value : -0.0; for (int j = lane; j < m; j += Lanes)"
            " y_value += A_gpu[(Index)i * m + j]; y_value = warp + double(y_value, Lanes); warp_sync(Lanes);"
            " if (lane == 0) y_gpu[i] = y_value; } }",
        ),
        # nothing was there
        (
            "double s = 0; for (int j = 0; j < m; j++) s += A[i][j]; y[i] = s;",
            "{ double s = 0; for (int j = lane; j < m; j += Lanes) s += A_gpu[(Index)i * m + j];"
            " s = warp + double(s, Lanes); if (lane == 0) y_gpu[i] = s; }",
        ),
        # an extreme may be combined with itself
        (
            "double s = x[i]; for (int j = 0; j < m; j++) if (A[i][j] > s) s = A[i][j]; y[i] = s;",
            "{ double s = x_gpu[i]; for (int j = lane; j < m; j += Lanes) if (A_gpu[(Index)i * m + j] > s)"
            " s = A_gpu[(Index)i * m + j]; s = warp max double(s, Lanes); if (lane == 0) y_gpu[i] = s; }",
        ),
        # lanes store what the loop before has read
        (
            "double s = 0; for (int j = 0; j < m; j++) s += A[i][j]; for (int j = 0; j < m; j++) A[i][j] -= s;",
            "{ double s = 0; for (int j = lane; j < m; j += Lanes) s += A_gpu[(Index)i * m + j];"
            " s = warp + double(s, Lanes); warp_sync(Lanes);"
            " for (int j = lane; j < m; j += Lanes) A_gpu[(Index)i * m + j] -= s; }",
        ),
    ],
)
def test_the_body_of_a_thread(text: str, expected: str, tmp_path: Path) -> None:
    assert body(f"for (int i = 0; i < n; i++) {{ {text} }}", tmp_path).endswith(expected)


def test_lanes_wait_around_what_they_read_of_each_other(tmp_path: Path) -> None:
    text = (
        "for (int i = 0; i < n; i++) for (int r = 0; r < 3; r++) { double s = y[i];"
        " for (int j = 0; j < m; j++) s += A[i][j]; y[i] = s; }"
    )
    found = body(text, tmp_path)
    assert "warp_sync(Lanes); if (lane == 0) y_gpu[i]" in found or "y_value" in found
    text = text.replace("A[i][j]; y[i] = s;", "A[i][j] * y[i]; A[i][0] = s;")
    found = body(text, tmp_path)
    assert "warp_sync(Lanes); if (lane == 0) A_gpu[(Index)i * m" in found and found.count("warp_sync(Lanes);") == 2
