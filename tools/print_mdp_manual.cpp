// SPDX-License-Identifier: Apache-2.0
// Prints docs/user/mdp.md. The build target mdp_manual writes the file.
#include "io/input/mdp_table.hpp"

#include <iostream>

int main()
{
    std::cout << parhelion::mdp_manual();
    return std::cout ? 0 : 1;
}
