// style: emitted, direct family, split K summed in order by the last arriver
// shape: 100x72x4096
// layout: nn
// plan: direct tile_m=16 tile_n=32 warps_m=1 warps_n=1 warps_k=4 split=4 reduction=ordered chunks=1 fixed=none trigger=none
