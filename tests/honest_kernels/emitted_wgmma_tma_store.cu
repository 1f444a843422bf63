// style: emitted, wgmma, C written by the copy engine
// shape: 500x520x640
// layout: tn
// plan: wgmma tile_m=128 tile_n=64 warpgroups=2 step_k=64 stages=3 cluster_m=1 cluster_n=1 split=1 reduction=add store=tma trigger=none raster=m fixed=none
