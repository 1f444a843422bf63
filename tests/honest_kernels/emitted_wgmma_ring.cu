// style: emitted, wgmma fed by a ring of TMA stages
// shape: 512x512x1024
// layout: tn
// plan: wgmma tile_m=128 tile_n=128 warpgroups=2 step_k=64 stages=4 cluster_m=1 cluster_n=1 split=1 reduction=add store=rows trigger=none raster=m fixed=none
