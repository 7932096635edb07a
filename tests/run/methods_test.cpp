// SPDX-License-Identifier: Apache-2.0
#include "run/methods.hpp"

#include "io/input/load.hpp"
#include "run/short_run.hpp"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace parhelion {
namespace {

std::string methods_of(const std::string& system, const std::string& more)
{
    const ShortRun run(system, more);
    Diagnostics diagnostics;
    const LoadedInput input = load_gromacs(run.request.input.files, diagnostics);
    return describe_methods(input.system.topology, input.parameters);
}

TEST(Methods, are_those_that_the_run_uses)
{
    EXPECT_EQ(methods_of("etoh", stochastic_ends),
              "methods   leap-frog, cluster pair lists, reaction field, SETTLE, LINCS, v-rescale, C-rescale, block averages\n");
    EXPECT_EQ(methods_of("etoh", "tcoupl = nose-hoover\n pcoupl = Parrinello-Rahman\n"),
              "methods   leap-frog, cluster pair lists, reaction field, SETTLE, LINCS, Nose-Hoover, Parrinello-Rahman, block "
              "averages\n");
    EXPECT_EQ(methods_of("etoh", "mass-repartition-factor = 2\n tcoupl = berendsen\n pcoupl = berendsen\n"),
              "methods   leap-frog, cluster pair lists, reaction field, SETTLE, LINCS, heavy hydrogens, Berendsen thermostat, "
              "Berendsen barostat, block averages\n");
}

TEST(Methods, of_a_minimisation_with_a_dispersion_mesh_have_no_couplings)
{
    const ShortRun run;
    Diagnostics diagnostics;
    LoadedInput input = load_gromacs(run.request.input.files, diagnostics);
    input.parameters.coulomb = CoulombKind::Pme, input.parameters.has_lj_mesh = true;
    for (const auto& [minimiser, name] :
         {std::pair{Integrator::ConjugateGradients, "conjugate gradients"}, {Integrator::LBfgs, "L-BFGS"}})
    {
        input.parameters.integrator = minimiser;
        EXPECT_EQ(describe_methods(input.system.topology, input.parameters),
                  "methods   " + std::string(name) + ", cluster pair lists, smooth PME, LJ-PME, SETTLE, LINCS, block averages\n");
    }
}

} // namespace
} // namespace parhelion
