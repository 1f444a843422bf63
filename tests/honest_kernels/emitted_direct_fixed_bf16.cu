// style: emitted, direct family, bf16, all dimensions fixed
// shape: 64x64x4096
// layout: tn
// type: bf16
// plan: direct tile_m=16 tile_n=16 warps_m=1 warps_n=1 warps_k=8 chunks=1 fixed=all trigger=none
