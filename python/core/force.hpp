// SPDX-License-Identifier: Apache-2.0
// A force that Python computes.
#pragma once

#include "engine/external_force.hpp"
#include "state.hpp"

#include <cstdint>
#include <vector>

namespace parhelion::python {

using IndicesGiven = nb::ndarray<const std::int64_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

// Calls call(positions, box, time), which answers (energy, forces, virial), arrays of doubles in order, or None if there is
// no answer. It raises nothing. The GIL is held for the call alone.
class PythonForce final : public ExternalForce
{
public:
    PythonForce(const IndicesGiven& atoms, nb::object call);
    ~PythonForce() override;
    PythonForce(const PythonForce&) = delete;
    PythonForce& operator=(const PythonForce&) = delete;

    const std::vector<std::int64_t>& atoms() const override { return atoms_; }
    std::optional<Answer> at(Configuration&& configuration) override;

private:
    const std::vector<std::int64_t> atoms_;
    nb::object call_;
};

} // namespace parhelion::python
