// GEMMSMITH_SYMBOL(cuMemAlloc) is "cuMemAlloc_v2": NVIDIA's headers rename functions by macros, and what a library
// exports is the name after their expansion, the one that decltype(&::cuMemAlloc) means too.
#pragma once

#define GEMMSMITH_SYMBOL_INNER(name) #name
#define GEMMSMITH_SYMBOL(name) GEMMSMITH_SYMBOL_INNER(name)
