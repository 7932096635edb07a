// SPDX-License-Identifier: Apache-2.0
// What a process has heard from others and left for them: bytes under keys, letters to ranks, notices, and that somebody is lost.
// Bootstraps of several processes differ in how it comes here.
#pragma once

#include "comm/bootstraps/inbox.hpp"

#include <map>
#include <mutex>

namespace parhelion {

class Heard
{
public:
    // As Bootstrap has them; what is put is known here only.
    void put(const std::string& key, Bytes value);
    std::optional<Bytes> get(const std::string& key) const;
    Inbox& inbox(int rank); // also before its rank asks for it
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
    std::map<int, Inbox> inboxes_; // by rank
    std::string loss_;
};

} // namespace parhelion
