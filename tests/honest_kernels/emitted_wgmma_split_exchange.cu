// style: emitted, wgmma family, split K by slots in L2
// shape: 256x256x4096
// layout: tn
// plan: wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=64 stages=4 split=4 reduction=exchange store=rows trigger=none raster=m fixed=none
