#include "corpus/collect/license.h"

#include <gtest/gtest.h>

namespace gemmsmith {
namespace {

const char* const kBsdText =
    " * Redistribution and use in source and binary\n * forms, with or without modification\n"
    " * 3. Neither the name of the copyright holder\n";

TEST(LicenseTest, FilesSayTheirs) {
  EXPECT_EQ(LicenseIn("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"),
            "Apache-2.0 WITH LLVM-exception");
  EXPECT_EQ(LicenseIn("/* SPDX-License-Identifier: MIT */"), "MIT");
  EXPECT_EQ(LicenseIn(kBsdText), "BSD-3-Clause");
  EXPECT_EQ(LicenseIn("// Licensed under the Apache License,\n// Version 2.0 (the \"License\")"), "Apache-2.0");
  EXPECT_EQ(LicenseIn("Permission is hereby granted, free of charge, to any person"), "MIT");
  EXPECT_EQ(LicenseIn("* NOTICE TO LICENSEE:\n"), "LicenseRef-NVIDIA");
  EXPECT_EQ(LicenseIn("GNU General Public License"), "GPL-3.0");
  EXPECT_EQ(LicenseIn("int x;"), std::nullopt);
}

TEST(LicenseTest, PackagesSayTheirs) {
  EXPECT_EQ(LicenseOfPackage("Name: x\nLicense-Expression: Apache-2.0\n\nLicense: MIT"), "Apache-2.0");
  EXPECT_EQ(LicenseOfPackage("License: BSD-3-Clause\r\n"), "BSD-3-Clause");
  EXPECT_EQ(LicenseOfPackage("Classifier: License :: OSI Approved :: MIT License\n"), "MIT");
  EXPECT_EQ(LicenseOfPackage("License: Own terms\n"), "Own terms");
  EXPECT_EQ(LicenseOfPackage("Name: x\n\nLicense: MIT\n"), std::nullopt);
}

TEST(LicenseTest, ChoicesReadExpressions) {
  const LicenseChoice permissive = *LicenseChoice::Parse("permissive");
  for (const char* name : {"MIT", "apache-2.0", "Apache-2.0 WITH LLVM-exception", "GPL-3.0 OR MIT", "MIT AND ISC"})
    EXPECT_TRUE(permissive.Allows(name)) << name;
  for (const char* name : {"GPL-3.0", "MIT AND GPL-3.0", "unknown", "", "(MIT OR GPL-3.0) AND ISC", "Own terms"})
    EXPECT_FALSE(permissive.Allows(name)) << name;
  EXPECT_TRUE(LicenseChoice::Parse("permissive,LicenseRef-NVIDIA")->Allows("LicenseRef-NVIDIA"));
  EXPECT_TRUE(LicenseChoice::Parse("unknown")->Allows("unknown"));
  EXPECT_FALSE(LicenseChoice::Parse("unknown")->Allows("MIT"));
  EXPECT_EQ(LicenseChoice::Parse("MIT,,ISC").status().code(), StatusCode::kInvalidArgument);
}

TEST(LicenseTest, TheNearestOneCounts) {
  LicenseMap map;
  map.AddRoot("Apache-2.0");
  map.AddFile("kda/LICENSE.own", "Permission is hereby granted, free of charge");
  map.AddFile("odd/LICENSE", "do what we say");
  map.AddFile("odd/LICENSE-MIT", "Permission is hereby granted, free of charge");
  EXPECT_EQ(map.Of("a.cu"), "Apache-2.0");
  EXPECT_EQ(map.Of("x/y/a.cu"), "Apache-2.0");
  EXPECT_EQ(map.Of("kda/deep/a.cu"), "MIT");
  EXPECT_EQ(map.Of("odd/a.cu"), "unknown");
}

TEST(LicenseTest, SeveralOfAFolderAreAllNeeded) {
  LicenseMap map;
  map.AddFile("LICENSE-MIT", "Permission is hereby granted, free of charge");
  map.AddFile("LICENSE-OTHER", "GNU General Public License");
  EXPECT_EQ(map.Of("a.cu"), "MIT AND GPL-3.0");
}

TEST(LicenseTest, PackagesLicenseTheFoldersTheyFill) {
  LicenseMap map;
  map.AddPackage("one-1.dist-info/METADATA", "License: MIT License\n",
                 "one-1.dist-info/METADATA,,\nnvidia/one/a.h,,\nnvidia/one/b/c.h,,\n../../bin/x,,\n");
  map.AddPackage("two-1.dist-info/METADATA", "License: NVIDIA Proprietary\n", "nvidia/two/a.h,,\n");
  EXPECT_EQ(map.Of("nvidia/one/b/c.h"), "MIT");
  EXPECT_EQ(map.Of("nvidia/two/a.h"), "LicenseRef-NVIDIA");
  EXPECT_EQ(map.Of("nvidia/three/a.h"), "unknown");
}

}  // namespace
}  // namespace gemmsmith
