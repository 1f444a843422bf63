"""Where the files of this package are."""

from pathlib import Path

_ROOT = Path(__file__).resolve().parent


def library() -> Path:
    """libgemmsmith.so, for ctypes and the like."""
    return next((_ROOT / "lib").glob("libgemmsmith.so*"))


def torch_library() -> Path:
    return _ROOT / "lib" / "libgemmsmith_aten.so"


def include_dir() -> Path:
    """For C and C++: gemmsmith/gemmsmith.h lies in it."""
    return _ROOT / "include"


def cmake_dir() -> Path:
    """For CMAKE_PREFIX_PATH or gemmsmith_DIR: find_package(gemmsmith CONFIG)."""
    return _ROOT / "lib" / "cmake" / "gemmsmith"
