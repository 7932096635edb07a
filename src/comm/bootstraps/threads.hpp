// SPDX-License-Identifier: Apache-2.0
// The bootstrap of ranks that are threads of this process. They share a table, and their pages are memory of the process.
#pragma once

#include "comm/bootstraps/heard.hpp"
#include "comm/bootstraps/pages.hpp"
#include "comm/core/bootstrap.hpp"

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
    void listen(Listener) override {} // does nothing, as there is no other process to be lost

private:
    const int ranks_;
    Heard heard_;
    std::mutex mutex_; // guards the member below
    std::map<std::pair<std::string, int>, std::unique_ptr<Pages>> pages_;
};

} // namespace parhelion
