
// Behind a file of the peer: the entry of the contract. PEER_M, PEER_N and PEER_K are the shape that the file is for.
extern "C" const char gemmsmith_descriptor_v1[] = "gemm " PEER_LAYOUT " f16 f32";

extern "C" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void*, size_t,
                            cudaStream_t stream) {
  if (m != PEER_M || n != PEER_N || k != PEER_K) return cudaErrorInvalidValue;
  peer::present_stream = stream;
  const bool is_tn = PEER_LAYOUT[0] == 't';
  try {
    cuda_l2_h100_fp32({a, m, k}, {is_tn ? nullptr : b, k, n}, {is_tn ? b : nullptr, k, n}, {c, m, n});
  } catch (const std::exception&) {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? cudaErrorUnknown : error;
  }
  return cudaGetLastError();
}
