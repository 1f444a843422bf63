// style: emitted, wgmma, split K by f32 adds in L2
// shape: 256x256x4096
// layout: tn
// plan: wgmma tile_m=64 tile_n=128 warpgroups=1 step_k=64 stages=4 cluster_m=1 cluster_n=1 split=4 reduction=add store=rows trigger=none raster=m fixed=none
