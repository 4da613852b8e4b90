// SPDX-License-Identifier: BSD-3-Clause
// The code of fmt, compiled once from its headers alone: what fmt's own src/format.cc makes of them
// for `char`. Prefixes that carry headers only, and Debian's package without its shared library,
// serve the same way.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
#if FMT_VERSION >= 120000
template locale_ref::locale_ref(const std::locale& locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
#endif
namespace detail {
#if FMT_VERSION < 120000
template locale_ref::locale_ref(const std::locale& locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
#endif
template auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
#if FMT_VERSION >= 100000 && FMT_VERSION < 110100
template void vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif
}  // namespace detail
FMT_END_NAMESPACE
