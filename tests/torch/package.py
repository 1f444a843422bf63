"""The wheel, where no torch is needed. Arguments: source tree, build tree."""

import base64
import csv
import ctypes
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "python/backend"))
import gemmsmith_backend  # noqa: E402


def listing(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.work.name) / "site"
        name = gemmsmith_backend.build_wheel(cls.work.name, {"build-folder": str(BUILD)})
        cls.path = Path(cls.work.name) / name
        zipfile.ZipFile(cls.path).extractall(cls.folder)
        cls.package = cls.folder / "gemmsmith"
        cls.version = re.match(r"gemmsmith-([0-9.]+)-py3-none-manylinux_2_\d+_x86_64\.whl$", name).group(1)

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def run_python(self, *arguments):
        return subprocess.run([sys.executable, "-B", *arguments], env={**os.environ, "PYTHONPATH": str(self.folder)},
                              check=True, capture_output=True, text=True).stdout.strip()

    def test_its_record_lists_every_file_with_its_hash(self):
        info = self.folder / f"gemmsmith-{self.version}.dist-info"
        rows = {name: (digest, size) for name, digest, size in csv.reader((info / "RECORD").open())}
        self.assertEqual(rows.pop(f"{info.name}/RECORD"), ("", ""))
        self.assertEqual(set(rows) | {f"{info.name}/RECORD"}, set(zipfile.ZipFile(self.path).namelist()))
        for name, (digest, size) in rows.items():
            content = (self.folder / name).read_bytes()
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, size), (f"sha256={expected}", str(len(content))), name)

    def test_it_is_small(self):
        self.assertLess(self.path.stat().st_size, 20e6)

    def test_the_tag_names_the_library_that_is_needed(self):
        needed = [int(minor) for library in self.package.glob("lib/*.so*") for minor in re.findall(
            r"GLIBC_2\.(\d+)", subprocess.run(["objdump", "-T", library], capture_output=True, text=True).stdout)]
        self.assertIn(f"manylinux_2_{max(needed)}_x86_64", self.path.name)

    def test_its_libraries_need_the_system_s_alone_and_each_other(self):
        for library in self.package.glob("lib/*.so*"):
            header = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
            for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", header):
                self.assertRegex(needed, r"^(lib(c|m|dl|pthread|stdc\+\+|gcc_s)\.so\.\d|ld-linux-x86-64.so.2|libgemmsmith\.so\.\d)$")

    def test_an_import_needs_no_torch_and_writes_nothing(self):
        before = listing(self.folder)
        text = self.run_python("-c", "import sys, gemmsmith; print(gemmsmith.__version__, 'torch' in sys.modules, "
                               "'ctypes' in sys.modules)")
        self.assertEqual(text, f"{self.version} False False")
        self.assertEqual(listing(self.folder), before)

    def test_the_library_is_of_this_version(self):
        library = ctypes.CDLL(self.run_python("-m", "gemmsmith", "--library"))
        library.gemmsmith_version.restype = ctypes.c_char_p
        self.assertEqual(library.gemmsmith_version().decode(), self.version)

    def test_where_no_torch_is_loaded_it_is_said(self):
        library = ctypes.CDLL(str(self.package / "lib/libgemmsmith_aten.so"))
        library.gemmsmith_aten_open.restype = ctypes.c_char_p
        self.assertEqual(library.gemmsmith_aten_open(), b"torch is not loaded: import it first")

    def test_find_package_finds_it(self):
        build = Path(self.work.name) / "stranger"
        prefix = f"-Dgemmsmith_DIR={self.run_python('-m', 'gemmsmith', '--cmake')}"
        subprocess.run(["cmake", "-S", SOURCE / "tests/library/stranger", "-B", build, prefix], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
        subprocess.run([build / "stranger"], check=True, capture_output=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
