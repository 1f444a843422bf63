// style: emitted, wgmma, persistent: two warpgroups share every tile
// shape: 1000x1164x328
// layout: tn
// plan: wgmma tile_m=128 tile_n=64 schedule=cooperative warpgroups=2 step_k=64 stages=4 cluster_m=1 cluster_n=1 split=1 reduction=add store=rows trigger=late raster=4 ctas=all fixed=none
