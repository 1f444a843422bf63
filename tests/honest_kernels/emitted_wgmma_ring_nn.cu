// style: emitted, wgmma with a row-major B, multicast in clusters
// shape: 512x512x1024
// layout: nn
// plan: wgmma tile_m=128 tile_n=128 warpgroups=2 step_k=64 stages=4 cluster_m=2 cluster_n=1 split=1 reduction=add store=rows trigger=none raster=m fixed=none
