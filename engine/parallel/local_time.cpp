// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/local_time.hpp"

#include <ctime>
#include <iomanip>
#include <sstream>

namespace effio {

std::string local_now(const char* form) {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::ostringstream text;
    text << std::put_time(&local, form);
    return text.str();
}

std::string now_as_ctime() {
    return local_now("%a %b %e %H:%M:%S %Y");
}

}  // namespace effio
