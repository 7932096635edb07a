// SPDX-License-Identifier: Apache-2.0
#include "device/rank_program.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <vector>

namespace parhelion {

void run_together(std::span<RankProgram> programs)
{
    std::vector<RankProgram::Course> courses(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i)
    {
        courses[i] = {programs[i].handle_, programs.size() == 1};
        programs[i].handle_.promise().course = &courses[i];
    }
    for (std::size_t ended = 0; ended < programs.size();)
    {
        PARHELION_EXPECTS(ended == 0); // all programs have the same pauses, so none ends before another
        for (std::size_t i = 0; i < programs.size(); ++i)
        {
            courses[i].paused.resume();
            const RankProgram::Handle program = programs[i].handle_;
            if (program.promise().error) { std::rethrow_exception(program.promise().error); }
            ended += program.done() ? 1 : 0;
        }
    }
}

} // namespace parhelion
