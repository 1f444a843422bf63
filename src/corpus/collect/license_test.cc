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

TEST(LicenseTest, TagsEndWithTheirComment) {
  for (const char* text : {"<!-- SPDX-License-Identifier: MIT -->", "<!--SPDX-License-Identifier: MIT-->",
                           "/*SPDX-License-Identifier:\tMIT*/", "-- SPDX-License-Identifier: MIT --\nx"})
    EXPECT_EQ(LicenseIn(text), "MIT") << text;
}

TEST(LicenseTest, AllTagsOfAFileCount) {
  EXPECT_EQ(LicenseIn("// SPDX-License-Identifier: MIT OR ISC\n// SPDX-License-Identifier: GPL-2.0-only\n"),
            "(MIT OR ISC) AND GPL-2.0-only");
}

TEST(LicenseTest, RestrictionsAreNotPermissive) {
  const LicenseChoice permissive = *LicenseChoice::Parse("permissive");
  const std::string advertising = std::string(kBsdText) + " * All advertising materials mentioning\n * features or use";
  EXPECT_EQ(LicenseIn(advertising), "BSD-4-Clause");
  const std::string commons = "\"Commons Clause\" License Condition v1.0\n";
  const std::string mit = "Permission is hereby granted, free of charge, to any person\n";
  EXPECT_EQ(LicenseIn(commons + "// SPDX-License-Identifier: MIT\n"), kCommonsClause);
  EXPECT_EQ(LicenseIn(mit + commons), kCommonsClause);
  EXPECT_EQ(LicenseOfFile(mit + std::string(9000, '\n') + commons), kCommonsClause);
  EXPECT_FALSE(permissive.Allows(std::string(kCommonsClause)));
  EXPECT_FALSE(permissive.Allows("BSD-4-Clause"));
  EXPECT_FALSE(permissive.Allows("Apache-2.0 WITH Commons-Clause"));
}

TEST(LicenseTest, SourcesAreNoLicenceFiles) {
  for (const char* name : {"LICENSE", "license.txt", "LICENSE-MIT", "COPYING.LIB", "LICENSE.own", "Licence-2.0"})
    EXPECT_TRUE(IsLicenseFileName(name)) << name;
  for (const char* name : {"license.h", "license.cc", "LICENSE.CU", "license.py", "license-check.js", "copying.c"})
    EXPECT_FALSE(IsLicenseFileName(name)) << name;
}

TEST(LicenseTest, PackagesSayTheirs) {
  EXPECT_EQ(LicenseOfPackage("Name: x\nLicense-Expression: Apache-2.0\n\nLicense: MIT"), "Apache-2.0");
  EXPECT_EQ(LicenseOfPackage("License: BSD-3-Clause\r\n"), "BSD-3-Clause");
  EXPECT_EQ(LicenseOfPackage("Classifier: License :: OSI Approved :: MIT License\n"), "MIT");
  EXPECT_EQ(LicenseOfPackage("License: Own terms\n"), "Own terms");
  EXPECT_EQ(LicenseOfPackage("Name: x\n\nLicense: MIT\n"), std::nullopt);
  EXPECT_EQ(LicenseOfPackage("License: Apache License, Version 2.0\n"), "Apache-2.0");
  EXPECT_EQ(LicenseOfPackage("License: GPL-3.0 or MIT\n"), "GPL-3.0 OR MIT");
  EXPECT_EQ(LicenseOfPackage("License: The MIT License (MIT)\n"), "MIT");
  EXPECT_EQ(LicenseOfPackage("License: Modified BSD License\n"), "BSD-3-Clause");
  EXPECT_EQ(LicenseOfPackage("License: LicenseRef-NVIDIA-Proprietary\n"), "LicenseRef-NVIDIA");
}

TEST(LicenseTest, AllLicencesOfAPackageCount) {
  const std::string classifier = "Classifier: License :: OSI Approved :: ";
  const std::string mit = classifier + "MIT License\n";
  const std::pair<std::string, const char*> kPackages[] = {
      {mit + classifier + "GNU General Public License v3 (GPLv3)\n", "MIT AND GPL-3.0"},
      {mit + classifier + "Eiffel Forum License\n", "MIT AND LicenseRef-EiffelForumLicense"},
      {"License: Apache-2.0\nClassifier: License :: Other/Proprietary License\n",
       "Apache-2.0 AND LicenseRef-proprietary"},
      {"License: BSD 3-Clause, with Commons Clause\n",
       "LicenseRef-Commons-Clause AND BSD-3-Clause AND LicenseRef-further-words"},
      {"License: Apache 2.0 and GPL\n", "Apache-2.0 AND GPL"},
      {"License: Apache 2.0, GPL\n", "Apache-2.0 AND LicenseRef-further-words"},
      {"License: (MIT or GPL) and ISC\n", "(MIT AND GPL) AND ISC"},
      {"License: Own terms\n" + mit, "Own terms AND MIT"},
      {"License: BSD-4-Clause\n" + classifier + "BSD License\n", "BSD-4-Clause"},
      {"License: BSD-2-Clause\n" + classifier + "BSD License\n", "BSD-2-Clause"},
      {"License: MIT OR GPL-3.0\n" + mit, "MIT OR GPL-3.0"},
      {"License: see LICENSE.txt\n" + classifier + "Apache Software License\n", "Apache-2.0"},
      {"License: MIT License\n        \n        \"Commons Clause\" License\n", "LicenseRef-Commons-Clause AND MIT"},
  };
  for (const auto& [metadata, license] : kPackages) EXPECT_EQ(LicenseOfPackage(metadata), license) << metadata;
}

TEST(LicenseTest, APackageMayHoldTheTextOfItsLicence) {
  std::string text = "License: Permission is hereby granted, free of charge";
  for (int i = 0; i < 40; ++i) text += "\n        a word";
  EXPECT_EQ(LicenseOfPackage(text), "MIT");
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
