"""Builds the wheel: what `pip install .` calls (PEP 517). Needs what CMakeLists.txt needs, and nothing of PyPI.

The libraries come from the build folder build/release where there is one, with the compiled kernels that it holds; else
from build/wheel, which is made for it. Another one: pip install . --config-settings build-folder=DIR
"""

import base64
import hashlib
import os
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Linked twice under other names, or for those who link by flags: zip archives hold no links.
LEFT_OUT = ("lib/libgemmsmith.so", "lib/pkgconfig")


def _run(*command):
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True)


def _version():
    return re.search(r"project\(gemmsmith VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _build_folder(settings):
    if named := (settings or {}).get("build-folder"):
        return ROOT / named
    release = ROOT / "build/release"
    return release if (release / "CMakeCache.txt").exists() else ROOT / "build/wheel"


def _build(folder):
    if not (folder / "CMakeCache.txt").exists():
        _run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DGEMMSMITH_TESTS=OFF")
    _run("cmake", "--build", folder, "--target", "gemmsmith_library", "gemmsmith_aten", "gemmsmith_preload")


def _install(folder, prefix):
    for component in ("Unspecified", "python"):
        _run("cmake", "--install", folder, "--prefix", prefix, "--component", component, "--strip")


def _installed_files(prefix):
    """Name in the package, content. The library goes by the name that it is loaded by."""
    for path in sorted(p for p in prefix.rglob("*") if p.is_file()):
        name = str(path.relative_to(prefix))
        if name.startswith(LEFT_OUT) and not re.fullmatch(r"lib/libgemmsmith\.so\.\d+", name):
            continue
        content = path.read_bytes()
        if path.suffix == ".cmake":
            content = re.sub(rb"(libgemmsmith\.so\.\d+)\.[0-9.]*\d", rb"\1", content)
        yield f"gemmsmith/{name}", content


def _platform(prefix):
    """The oldest C library that all of them start with."""
    versions = [(2, 17)]
    for library in prefix.glob("lib/*.so"):
        symbols = subprocess.run(["objdump", "-T", str(library)], check=True, capture_output=True, text=True).stdout
        versions += [(2, int(minor)) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols)]
    return "manylinux_{}_{}_x86_64".format(*max(versions))


def _metadata(version):
    readme = (ROOT / "docs/torch.md").read_text()
    return (f"Metadata-Version: 2.4\nName: gemmsmith\nVersion: {version}\n"
            "Summary: Fast half-precision matrix products on NVIDIA GPUs, for torch, C and C++\n"
            "Requires-Python: >=3.10\nProvides-Extra: torch\nRequires-Dist: torch>=2.10; extra == 'torch'\n"
            f"License-File: LICENSE\nDescription-Content-Type: text/markdown\n\n{readme}")


def _write(path, files):
    def row(name, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(content)}\n"

    info = next(name for name in files if name.endswith(".dist-info/WHEEL")).removesuffix("WHEEL")
    record = "".join(row(name, content) for name, content in files.items()) + f"{info}RECORD,,\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**files, f"{info}RECORD": record.encode()}.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # equal files make equal wheels
            entry.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder, version = _build_folder(config_settings), _version()
    _build(folder)
    with tempfile.TemporaryDirectory() as prefix:
        _install(folder, prefix)
        files = dict(_installed_files(Path(prefix)))
        tag = f"py3-none-{_platform(Path(prefix))}"
    for path in sorted((ROOT / "python/gemmsmith").glob("*.py")):
        files[f"gemmsmith/{path.name}"] = path.read_bytes()
    files["gemmsmith/_version.py"] = f'__version__ = "{version}"\n'.encode()
    info = f"gemmsmith-{version}.dist-info"
    files[f"{info}/METADATA"] = _metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gemmsmith\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    name = f"gemmsmith-{version}-{tag}.whl"
    _write(os.path.join(wheel_directory, name), files)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source distribution: install from a clone of the repository")
