"""Compiles the peers in CUDA C++ where they run, in the background, with the `nvcc` that is there."""

import importlib.util
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from pathlib import Path

from contestants import Absent

SOURCES = Path(__file__).resolve().parent / "cuda"

# The library that a program needs beyond the CUDA runtime, which nvcc links itself.
LIBRARIES = {"dot": "cublas", "spmv": "cusparse"}

NVCC_PLACES = ("/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc")


class Toolkit:
    """The compiled programs; compilation begins at once."""

    def __init__(self, folder, capability, jobs=min(9, os.cpu_count() or 1), patience=120):
        self.folder, self.patience = Path(folder), patience
        self.nvcc = find_nvcc()
        self.version, self.under_way, self.children = None, {}, set()
        if self.nvcc is None:
            return
        self.version = _version(self.nvcc)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.architecture = f"sm_{capability}" if capability else "native"
        self.threads = ThreadPoolExecutor(jobs)
        for path in sorted(SOURCES.glob("*.cu")):
            self.under_way[path.stem] = self.threads.submit(self._compile, path)

    def executable(self, program):
        """Returns the path of a compiled program; waits for its compilation."""
        if self.nvcc is None:
            raise Absent("no nvcc on this machine")
        try:
            complaint = self.under_way[program].result(self.patience)
        except TimeoutError:
            raise Absent(f"nvcc took longer than {self.patience:g} s") from None
        if complaint:
            raise Absent(f"not compiled: {complaint}")
        return self.folder / program

    def close(self):
        """Gives up on compilations that have not finished."""
        if self.nvcc is not None:
            self.threads.shutdown(wait=False, cancel_futures=True)
            for child in list(self.children):
                child.kill()

    def _compile(self, path):
        """Compiles a program; returns the complaint, or an empty text. The headers and libraries of Python packages
        are tried if those of the toolkit do not suffice, since their versions may differ from that of nvcc."""
        complaint = self._run(self.command(path, []))
        if complaint and (roots := wheel_roots()):
            complaint = self._run(self.command(path, roots))
        return complaint

    def _run(self, command):
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace")
        self.children.add(child)
        try:
            output, _ = child.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return f"nvcc took longer than {self.patience:g} s"
        finally:
            self.children.discard(child)
        if child.returncode == 0:
            return ""
        errors = [line for line in output.splitlines() if "error" in line or "undefined" in line]
        return (errors or output.splitlines() or ["nvcc failed"])[0][:300]

    def command(self, path, roots):
        """Returns the command that compiles a program with further folders of headers and libraries."""
        words = [self.nvcc, "-O3", "-std=c++17", f"-arch={self.architecture}", "--extended-lambda",
                 str(path), "-o", str(self.folder / path.stem)]
        for root in roots:
            words += [f"-I{root}/include", f"-I{root}/include/cccl", f"-L{root}/lib"]
        if library := LIBRARIES.get(path.stem):
            words.append(_link_name(library, roots))
            words += [f"-Xlinker=-rpath,{root}/lib" for root in roots]
        return words


def find_nvcc():
    """Returns the path of nvcc, or none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    places = ([f"{home}/bin/nvcc"] if home else []) + [*NVCC_PLACES]
    return shutil.which("nvcc") or next((place for place in places if os.access(place, os.X_OK)), None)


def wheel_roots():
    """Returns the folders into which Python packages of NVIDIA have put headers and libraries: they may be
    there where the toolkit's own are not."""
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations) if spec and spec.submodule_search_locations else []
    return [str(root) for place in places for root in sorted(Path(place).glob("cu[0-9]*")) if root.is_dir()]


def _link_name(library, roots):
    """Returns the option that links a library. Python packages contain only `libNAME.so.MAJOR`, which the
    plain option does not find."""
    toolkit = [Path(nvcc).resolve().parent.parent / "lib64" for nvcc in (find_nvcc(),) if nvcc]
    folders = [*toolkit, *(Path(root) / "lib" for root in roots)]
    if any((folder / f"lib{library}.so").exists() for folder in toolkit):
        return f"-l{library}"
    for folder in folders:
        for file in sorted(folder.glob(f"lib{library}.so.*")):
            return f"-l:{file.name}"
    return f"-l{library}"


def _version(nvcc):
    try:
        done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=20)
        return next((line for line in done.stdout.splitlines() if "release" in line), "").strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
