// style: emitted, direct family, four warps split K
// shape: 256x256x512
// layout: tn
// plan: direct tile_m=32 tile_n=32 warps_m=2 warps_n=1 warps_k=4 split=1 reduction=add chunks=2 fixed=none trigger=none
