// SPDX-License-Identifier: BSD-3-Clause
// Kinds of noise as one text, for the model machine `sim`: terms joined by '+'.
//
//   0.05               independent Gaussian noise with this standard deviation
//   ar:0.05:0.7        Gaussian noise; consecutive operations are correlated by 0.7
//   bimodal:0.2:2      a random 20 % of the operations takes twice as long
//   rare:0.01:50       a random 1 % takes 50 times as long (the same law as bimodal)
//   regime:100:1.3     alternately 100 operations as in the model and 100 slower by a factor of 1.3
//   sine:200:0.1       a sine wave with a period of 200 operations and an amplitude of 0.1
//   drift:0.001        each operation takes 0.001 of the model's time longer than the one before
//   night:0.1          one Gaussian factor with this deviation for the whole run and all ranks
//
// The time of an operation is the model's time, times 1 plus the sum of the Gaussian, sine and
// drift terms, times the factors of the other terms. It is at least a tenth of the model's time.
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
    /// Independent Gaussian noise only.
    NoiseTerms(double deviation);  // NOLINT(google-explicit-constructor): as in `noise = 0.05`

    bool any() const;
    static Result<NoiseTerms> parse(std::string_view text);
};

/// Factors of one rank's operations, one after another.
class NoiseFactors {
  public:
    /// `seed` is the run's. Ranks have different noise in all terms except `night`.
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
