// SPDX-License-Identifier: Apache-2.0
// Checkpoints behind their hashes, which are made right for every input: the description up to the first zero byte, then the
// bytes of positions and velocities, half and half.
#include "io/input/checkpoint.hpp"

#include "base/error.hpp"
#include "io/sealed_checkpoint.hpp"

#include <algorithm>
#include <cmath>

using namespace parhelion;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string input(reinterpret_cast<const char*>(data), size);
    const std::size_t about = std::min(input.find('\0'), size), arrays = std::min(about + 1, size), half = (size - arrays) / 2;
    try
    {
        const Checkpoint read = parse_checkpoint(
            test::sealed({input.substr(0, about), input.substr(arrays, half), input.substr(arrays + half)}), "fuzz.cpt");
        const OutputPosition& position = read.outputs;
        PARHELION_EXPECTS(read.state.step >= 0 && read.reached >= read.state.step - 1);
        PARHELION_EXPECTS(position.next_energy_step <= read.state.step &&
                          position.since_frame.count() <= position.whole_run.count());
        PARHELION_EXPECTS(position.since_frame.terms() == position.whole_run.terms());
        for (int d = 0; d < 3; ++d)
        {
            PARHELION_EXPECTS(read.state.box.diagonal()[d] > 0 && std::isfinite(read.state.box.diagonal()[d]));
        }
        const auto is_finite = [](const auto& v) { return std::isfinite(norm(v)); };
        PARHELION_EXPECTS(
            std::visit([&](const auto& list) { return std::all_of(list.begin(), list.end(), is_finite); }, read.state.v));
    }
    catch (const InputError& error)
    {
        PARHELION_EXPECTS(error.where().file == "fuzz.cpt");
    }
    return 0;
}
