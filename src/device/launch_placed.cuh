// The host's side of a persistent `wgmma` kernel that is placed, in a standalone file. Compiled by nvcc only.
#pragma once

#include "launch_neighbours.cuh"
#include "launch_persistent.cuh"
