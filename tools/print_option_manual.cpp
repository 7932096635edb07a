// SPDX-License-Identifier: Apache-2.0
// Prints docs/user/options.md. The build target option_manual writes the file.
#include "engine/option_rules.hpp"

#include <iostream>

int main()
{
    std::cout << parhelion::option_manual();
    return std::cout ? 0 : 1;
}
