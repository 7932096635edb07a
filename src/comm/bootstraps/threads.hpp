// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process: a table that all share, and pages of the process.
#pragma once

#include "comm/bootstrap.hpp"
#include "comm/bootstraps/heard.hpp"
#include "comm/bootstraps/pages.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace parhelion {

class ThreadsBootstrap : public Bootstrap
{
public:
    explicit ThreadsBootstrap(int ranks);

    int ranks() const override { return ranks_; }
    RankRange here() const override { return {0, ranks_}; }
    void put(const std::string& key, Bytes value) override { heard_.put(key, std::move(value)); }
    std::optional<Bytes> get(const std::string& key) override { return heard_.get(key); }
    void post(int rank, Bytes letter) override { heard_.inbox(rank).leave(std::move(letter)); }
    Inbox& inbox(int rank) override { return heard_.inbox(rank); }
    std::byte* pages(const std::string& what, int rank, std::size_t bytes) override;
    void listen(Listener) override {} // all ranks end with this process

private:
    const int ranks_;
    Heard heard_;
    std::mutex mutex_; // of what follows
    std::map<std::pair<std::string, int>, std::unique_ptr<Pages>> pages_;
};

} // namespace parhelion
