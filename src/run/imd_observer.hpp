// SPDX-License-Identifier: Apache-2.0
// An observer that sends frames and their energies to a client of interactive molecular dynamics (run/imd_server.hpp) during a
// run, and forwards all calls to another observer. RunOutputs::stream_every sets the interval of frames. Cost of a frame: one
// pass over positions, velocities and forces if a client is connected, otherwise nothing.
//
//     ImdServer server({{"127.0.0.1", 8888}});
//     ImdObserver observer(terminal, server, request.output.stream_every, stop);
//     run_simulation(request, observer, stop);
#pragma once

#include "run/imd_server.hpp"
#include "run/observer.hpp"

#include <cstdint>
#include <optional>

namespace parhelion {

class ImdObserver final : public RunObserver
{
public:
    // All arguments by reference must outlive the observer.
    ImdObserver(RunObserver& other, ImdServer& server, int every, std::atomic<bool>& stop)
        : other_(other), server_(server), stop_(stop), every_(every)
    {
    }

    void warning(const std::string& line) override { other_.warning(line); }
    void message(const std::string& line) override { other_.message(line); }
    void notes(const std::vector<Warning>& notes) override { other_.notes(notes); }
    void prepared() override { other_.prepared(); }
    void begins(const RunBegin& begin) override;
    void progress(const RunProgress& progress) override;
    void frame(const Frame& frame) override;
    void energies(const RunEnergies& energies) override;
    void steps_over() override;
    void ended(const RunResult& result) override { other_.ended(result); }
    void speaks(bool does) override { other_.speaks(does); }

private:
    bool is_streamed(std::int64_t step) const { return step % every_ == 0; }
    void tell_news();

    RunObserver& other_;
    ImdServer& server_;
    std::atomic<bool>& stop_;
    const int every_;
    double dt_ = 0;                // ps
    std::optional<Frame> waiting_; // the frame to be sent, until energies() is called for its step
};

} // namespace parhelion
