// SPDX-License-Identifier: Apache-2.0
// The data that a process has received from other processes or stored for them: bytes under keys, letters to ranks, notices,
// and news of lost ranks. The bootstraps of ranks in several processes use this class; they differ in how the data reaches it.
#pragma once

#include "comm/core/inbox.hpp"

#include <map>
#include <mutex>

namespace parhelion {

class Heard
{
public:
    // put(), get(), inbox() and listen() do what the calls of Bootstrap do. Bytes that are put are known in this process only.
    void put(const std::string& key, Bytes value);
    std::optional<Bytes> get(const std::string& key) const;
    Inbox& inbox(int rank); // may be called before the rank itself asks for its inbox
    void listen(Bootstrap::Listener listener);

    // value(), notice() and loss() store data from other processes. A second loss is ignored.
    void value(const std::string& key, Bytes value);
    void notice(const Notice& notice);
    void loss(const std::string& sentence);
    // Returns the sentence of the loss, or an empty text if there is none.
    std::string loss() const;

private:
    std::mutex listener_mutex_; // guards the listener and its calls, which thus keep the order of the notices
    std::optional<Bootstrap::Listener> listener_;
    std::vector<Notice> notices_; // notices that came before the first listener
    mutable std::mutex mutex_;    // guards the members below; may be locked while listener_mutex_ is
    std::map<std::string, Bytes> values_;
    std::map<int, Inbox> inboxes_; // inboxes of ranks of this process, by rank
    std::string loss_;
};

} // namespace parhelion
