// Elements of an output beside their reference, and checksums of inputs. harness.cu includes this, and a test on the CPU.

#ifdef __CUDACC__
// Of numbers that are not zero only: most warps have seen nothing, and additions to one address wait for each other.
template <class T>
__device__ void AddOverWarp(T* to, T value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  if (threadIdx.x % 32 == 0 && value != 0) atomicAdd(to, value);
}
#endif

struct Differences {
  double error_squares, reference_squares;
  u64 worst;          // bits of the largest error (NaN counts as infinity) << 32 | low 32 bits of its index
  u64 failures;
  u64 first_failure_complement;  // ~(the smallest index row * n + column that failed); 0: none
  u32 largest_reference;  // bits of a float
  u32 unused;
};

// Which elements pass. Those whose reference is small enough must be equal. The others may be off by a fixed error and
// a share of the reference, but never by more than the last number.
struct Acceptance {
  float exact_below;
  float fixed, share, most;
  bool special;  // the reference may be NaN or infinite, and then an element must be the same
};

struct CompareArguments {
  Matrix c;                // row-major; floats have no gaps
  const float* reference;  // packed
  Acceptance acceptance;
  Differences* differences;
};

__device__ bool Passes(float got, float expected, const Acceptance& acceptance) {
  if (fabsf(expected) < acceptance.exact_below) return got == expected;
  return fabsf(got - expected) <= fminf(acceptance.fixed + acceptance.share * fabsf(expected), acceptance.most);
}

// NaN fails everywhere but where NaN is expected. Values beyond C's type are expected as that type has them.
__device__ bool PassesSpecially(float got, float expected, float tolerance) {
  if (expected != expected) return got != got;
  return got == expected || fabsf(got - expected) <= tolerance;
}

// What a thread has seen of C.
struct Findings {
  double error_squares = 0, reference_squares = 0;
  u64 worst = 0, failures = 0, first_failure_complement = 0;
  u32 largest_reference = 0;

  __device__ void Add(const Acceptance& acceptance, int type, float got, float expected, i64 i) {
    float error = fabsf(got - expected);
    bool passes = Passes(got, expected, acceptance);
    if (acceptance.special) {
      expected = Widen(Narrow(expected, type), type);
      passes = PassesSpecially(got, expected, acceptance.fixed);
      error = passes ? 0.0f : fabsf(got - expected);
      if (!(fabsf(expected) < 0x1p126f)) expected = 0;  // no part of a norm
    }
    const u32 error_bits = error == error ? __float_as_uint(error) : 0x7f800000u;
    worst = max(worst, u64(error_bits) << 32 | u32(i));
    if (!passes) ++failures, first_failure_complement = max(first_failure_complement, ~u64(i));
    largest_reference = max(largest_reference, __float_as_uint(fabsf(expected)));
    error_squares += double(error) * double(error);
    reference_squares += double(expected) * double(expected);
  }
  // Zeros need no look at what is there: a part without elements has no differences to point at.
  __device__ void Report(Differences* differences) {
    AddOverWarp(&differences->error_squares, error_squares);
    AddOverWarp(&differences->reference_squares, reference_squares);
    if (worst > 0 && worst > *reinterpret_cast<volatile u64*>(&differences->worst))
      atomicMax(&differences->worst, worst);
    if (largest_reference > 0 &&
        largest_reference > *reinterpret_cast<volatile u32*>(&differences->largest_reference))
      atomicMax(&differences->largest_reference, largest_reference);
    if (failures > 0) {
      atomicAdd(&differences->failures, failures);
      atomicMax(&differences->first_failure_complement, first_failure_complement);
    }
  }
};

// As many floats as a unit has elements.
__device__ void LoadFloats(const float* at, int count, float (&values)[kUnit]) {
  if (count == kUnit && reinterpret_cast<u64>(at) % sizeof(float4) == 0) {
#pragma unroll
    for (int i = 0; i < kUnit; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(at + i);
      values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kUnit; ++i) values[i] = i < count ? at[i] : 0.0f;
}

__device__ void Compare(const CompareArguments& arguments) {
  const MatrixUnits units(arguments.c);
  const int type = arguments.c.type;
  Findings findings;
  for (i64 i = First(); i < units.count; i += Step()) {
    const UnitPlace place(units, i);
    const i64 index = place.Index(units);
    float got[kUnit], expected[kUnit];
    LoadFloats(arguments.reference + index, place.count, expected);
    if (type == kF32)
      LoadFloats(static_cast<const float*>(arguments.c.data) + index, place.count, got);
    else
      WidenUnit(place.Load(units.is_wide), type, got);
#pragma unroll
    for (int e = 0; e < kUnit; ++e)
      if (e < place.count) findings.Add(arguments.acceptance, type, got[e], expected[e], index + e);
  }
  findings.Report(arguments.differences);
}

struct ChecksumArguments {
  Matrix matrix;
  u64* sum;
};

// The sum of a hash of every unit and its place: any changed bit changes it, whatever the order of the additions.
__device__ void Checksum(const ChecksumArguments& arguments) {
  const MatrixUnits units(arguments.matrix);
  u64 sum = 0;
#pragma unroll 4
  for (i64 i = First(); i < units.count; i += Step()) {
    const Unit unit = UnitPlace(units, i).Load(units.is_wide);
    const u64 low = u64(unit.words[1]) << 32 | unit.words[0], high = u64(unit.words[3]) << 32 | unit.words[2];
    sum += Mix(Mix(u64(i + 1) * 0x9e3779b97f4a7c15ull + low) + high);
  }
  AddOverWarp(arguments.sum, sum);
}
