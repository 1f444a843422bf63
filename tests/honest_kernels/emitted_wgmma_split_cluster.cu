// style: emitted, wgmma, split K in a cluster
// shape: 256x256x4096
// layout: nn
// plan: wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=64 stages=4 cluster_m=1 cluster_n=1 split=4 reduction=cluster store=rows trigger=none raster=m fixed=none
