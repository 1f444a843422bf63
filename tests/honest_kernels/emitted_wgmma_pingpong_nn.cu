// style: emitted, wgmma, persistent: two warpgroups take turns, in clusters, C written by the copy engine
// shape: 1536x1096x448
// layout: nn
// plan: wgmma tile_m=128 tile_n=64 schedule=pingpong warpgroups=2 step_k=64 stages=5 cluster_m=2 cluster_n=1 split=1 reduction=add store=tma trigger=none raster=m ctas=all fixed=none
