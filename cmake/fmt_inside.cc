// Debian has fmt as a shared library alone, and libgemmsmith.so must not need one: its functions are compiled into it.
#include <fmt/format-inl.h>

// What its headers declare to be in its library.
FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
