// style: emitted, wgmma with all of K in shared memory at once
// shape: 256x256x512
// layout: tn
// plan: wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=64 stages=resident cluster_m=1 cluster_n=1 split=1 reduction=add store=rows trigger=none raster=m fixed=none
