// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/natural_log.h"

#include <cmath>

namespace berth::plugins {

double NaturalLog(double x) {
  constexpr double kHalfSqrt2 = 7.07106781186547524401e-01;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kL1 = 6.666666666666735130e-01;
  constexpr double kL2 = 3.999999999940941908e-01;
  constexpr double kL3 = 2.857142874366239149e-01;
  constexpr double kL4 = 2.222219843214978396e-01;
  constexpr double kL5 = 1.818357216161805012e-01;
  constexpr double kL6 = 1.531383769920937332e-01;
  constexpr double kL7 = 1.479819860511658591e-01;

  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < kHalfSqrt2) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double k = exponent;

  // The order of these operations decides the last bit.
  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd = s2 * (kL1 + s4 * (kL3 + s4 * (kL5 + s4 * kL7)));
  const double even = s4 * (kL2 + s4 * (kL4 + s4 * kL6));
  const double half_f2 = 0.5 * f * f;
  return k * kLn2High - ((half_f2 - (s * (half_f2 + (odd + even)) + k * kLn2Low)) - f);
}

}  // namespace berth::plugins
