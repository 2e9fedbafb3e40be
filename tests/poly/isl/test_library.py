from __future__ import annotations

import json
import subprocess
import sys


def _run(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


_SHOWN = "print(json.dumps([isl.__version__, v.VERSION_TEXT, v.VERSION, v.VERSION_STATUS, 'zipfile' in sys.modules]))"


def test_islpy_has_the_version_that_it_finds_itself() -> None:
    ours = _run(f"import json, sys; from warpsmith.poly.isl.library import isl; import islpy.version as v; {_SHOWN}")
    its_own = _run(f"import json, sys; import islpy as isl; import islpy.version as v; {_SHOWN}")
    assert isinstance(ours, list)
    assert isinstance(its_own, list)
    assert ours[:4] == its_own[:4]
    assert ours[4] is False


def test_one_that_is_loaded_stays_as_it_is() -> None:
    loaded = "import json, islpy; before = islpy.version; import warpsmith.poly.isl.library"
    assert _run(f"{loaded}; print(json.dumps(islpy.version is before))") is True
