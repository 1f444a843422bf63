// Sixteen bytes of a line of a matrix, which a thread loads at once.

constexpr int kUnit = 8;  // elements

struct alignas(16) Unit {
  u32 words[kUnit / 2];

  __device__ bool Has(u32 element) const {
    bool has = false;
    for (const u32 word : words) {
      const u32 others = word ^ element * 0x10001u;
      has |= ((others - 0x10001u) & ~others & 0x80008000u) != 0;  // one half is zero
    }
    return has;
  }
};

// `count` elements of a line, and zeros behind them.
__device__ Unit LoadElements(const u16* at, int count) {
  Unit unit{};
#pragma unroll
  for (int i = 0; i < kUnit; ++i)
    if (i < count) unit.words[i / 2] |= u32(at[i]) << (16 * (i % 2));
  return unit;
}

__device__ void StoreElements(u16* at, int count, u16 element) {
#pragma unroll
  for (int i = 0; i < kUnit; ++i)
    if (i < count) at[i] = element;
}

__device__ void WidenUnit(const Unit& unit, int type, float (&values)[kUnit]) {
  const auto widen = [&](int constant) {
#pragma unroll
    for (int i = 0; i < kUnit; ++i) values[i] = Widen(u16(unit.words[i / 2] >> (16 * (i % 2))), constant);
  };
  type == kBf16 ? widen(kBf16) : widen(kF16);
}

// Lines of a matrix as units, counted line by line. A matrix without gaps is one line.
struct MatrixUnits {
  u16* data;
  i64 length, stride, per_line, count;
  bool is_wide;  // a whole unit of a line can be loaded and stored at once

  __device__ explicit MatrixUnits(const Matrix& matrix, i64 first_element = 0) {
    const bool is_packed = matrix.stride == matrix.line_length;
    data = static_cast<u16*>(matrix.data) + first_element;
    length = is_packed ? matrix.lines * matrix.line_length : matrix.line_length;
    stride = is_packed ? length : matrix.stride;
    per_line = (length + kUnit - 1) / kUnit;
    count = is_packed ? per_line : matrix.lines * per_line;
    is_wide = (is_packed || stride % kUnit == 0) && reinterpret_cast<u64>(data) % sizeof(Unit) == 0;
  }
};

// Where a unit stands: a division in 64 bits costs more than a load, and most matrices are one line.
struct UnitPlace {
  i64 line = 0, position;
  int count;  // elements that are inside
  u16* at;

  __device__ UnitPlace(const MatrixUnits& units, i64 unit) {
    if (units.count != units.per_line) line = unit / units.per_line;
    position = (unit - line * units.per_line) * kUnit;
    count = int(min(units.length - position, i64(kUnit)));
    at = units.data + line * units.stride + position;
  }
  // The place of its first element among all.
  __device__ i64 Index(const MatrixUnits& units) const { return line * units.length + position; }
  __device__ Unit Load(bool is_wide) const {
    return is_wide && count == kUnit ? *reinterpret_cast<const Unit*>(at) : LoadElements(at, count);
  }
  __device__ void Fill(bool is_wide, u16 element) const {
    if (!is_wide || count < kUnit) return StoreElements(at, count, element);
    const u32 pair = element * 0x10001u;
    *reinterpret_cast<Unit*>(at) = {{pair, pair, pair, pair}};
  }
};

// Fills a matrix that begins behind so many elements.
__device__ void FillUnits(const Matrix& matrix, i64 first_element, u16 element) {
  const MatrixUnits units(matrix, first_element);
  for (i64 unit = First(); unit < units.count; unit += Step()) UnitPlace(units, unit).Fill(units.is_wide, element);
}
