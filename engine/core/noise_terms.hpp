// SPDX-License-Identifier: BSD-3-Clause
// Kinds of noise as one text, for the model machine `sim`: terms joined by '+'.
//
//   0.05               independent, Gaussian, of this deviation
//   ar:0.05:0.7        Gaussian of this deviation, neighbours correlated by 0.7
//   bimodal:0.2:2      a fifth of the operations, at random, takes twice as long
//   rare:0.01:50       one of a hundred takes fifty times as long; the same law
//   regime:100:1.3     a hundred as the model says, a hundred 1.3 times as long, and so on
//   sine:200:0.1       a wave of 200 operations, up and down by a tenth
//   drift:0.001        each takes this share of the model's longer than the one before
//   night:0.1          one Gaussian factor for the whole run and all ranks, of this deviation
//
// An operation's time is the model's, times 1 plus the sum of the Gaussian, sine and drift terms,
// times the factors of the others; it is never less than a tenth of the model's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/noise.hpp"

namespace effio {

struct NoiseTerm {
    enum class Kind : char { gauss, correlated, share, regime, sine, drift, night };
    Kind kind = Kind::gauss;
    double first = 0;
    double second = 0;
};

struct NoiseTerms {
    std::vector<NoiseTerm> terms;
    std::string text = "0";  ///< as given

    NoiseTerms() = default;
    /// Independent Gaussian noise alone.
    NoiseTerms(double deviation);  // NOLINT(google-explicit-constructor): as in `noise = 0.05`

    bool any() const;
    static Result<NoiseTerms> parse(std::string_view text);
};

/// Factors of one rank's operations, one after another.
class NoiseFactors {
  public:
    /// `seed` belongs to the run, `rank` to the rank; ranks differ in all terms but `night`.
    NoiseFactors(const NoiseTerms& terms, std::uint64_t seed, int rank);
    double next();

  private:
    struct Source {
        NoiseTerm term;
        CorrelatedNoise gaussian;
        UniformNoise uniform;
        double night = 1;
    };
    std::vector<Source> sources_;
    std::int64_t done_ = 0;
};

}  // namespace effio
