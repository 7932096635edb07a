// SPDX-License-Identifier: Apache-2.0
// What a process has heard from others and left for them: bytes under keys, notices, and that somebody is lost. Bootstraps of
// several processes differ in how it comes here.
#pragma once

#include "comm/bootstrap.hpp"

#include <map>
#include <mutex>

namespace parhelion {

class Heard
{
public:
    // As Bootstrap has them; what is put is known here only.
    void put(const std::string& key, Bytes value);
    std::optional<Bytes> get(const std::string& key) const;
    void listen(Bootstrap::Listener listener);

    // From elsewhere. A second loss is of no interest.
    void value(const std::string& key, Bytes value);
    void notice(const Notice& notice);
    void loss(const std::string& sentence);
    // The sentence, or nothing.
    std::string loss() const;

private:
    std::mutex listener_mutex_; // of the listener and its calls, and of the order of what it hears
    std::optional<Bootstrap::Listener> listener_;
    std::vector<Notice> notices_; // that came before the first listener
    mutable std::mutex mutex_;    // of what follows; taken within the other
    std::map<std::string, Bytes> values_;
    std::string loss_;
};

} // namespace parhelion
