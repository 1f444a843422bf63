// style: emitted, wgmma, bf16, waits by itself for the launch before it
// shape: 512x512x1024
// layout: tn
// type: bf16
// plan: wgmma tile_m=128 tile_n=256 warpgroups=2 step_k=64 stages=3 cluster_m=1 cluster_n=1 split=1 reduction=add store=rows trigger=late raster=m fixed=k
