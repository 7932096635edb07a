// SPDX-License-Identifier: Apache-2.0
#include "run/imd_observer.hpp"

#include <fmt/format.h>

namespace parhelion {

void ImdObserver::tell_news()
{
    for (const std::string& line : server_.news()) { other_.message(line); }
}

void ImdObserver::begins(const RunBegin& begin)
{
    other_.begins(begin);
    dt_ = begin.dt;
    server_.start(stop_);
    other_.message(fmt::format("IMD: one can look on at {}, every {} steps{}", server_.address().text(), every_,
                               server_.waits() ? "; the run waits for who does" : ""));
}

void ImdObserver::progress(const RunProgress& progress)
{
    other_.progress(progress);
    tell_news();
}

void ImdObserver::frame(const Frame& frame)
{
    other_.frame(frame);
    waiting_.reset();
    if (is_streamed(frame.step) && server_.wants(frame.step)) { waiting_ = frame; }
}

void ImdObserver::energies(const RunEnergies& energies)
{
    other_.energies(energies);
    if (!waiting_ || waiting_->step != energies.step) { return; }
    server_.send(imd_frame(server_.version(), *waiting_, dt_, imd_energies(energies.names, energies.values)));
    waiting_.reset();
}

void ImdObserver::steps_over()
{
    server_.finish();
    tell_news();
    other_.steps_over();
}

} // namespace parhelion
