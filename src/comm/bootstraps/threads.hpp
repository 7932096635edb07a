// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process: a table under a lock, and pages of the process.
#pragma once

#include "comm/bootstrap.hpp"
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
    void put(const std::string& key, Bytes value) override;
    std::optional<Bytes> get(const std::string& key) override;
    std::byte* pages(const std::string& key, std::size_t bytes) override;
    void on_loss(OnLoss) override {} // all ranks end with this process

private:
    const int ranks_;
    std::mutex mutex_; // of what follows
    std::map<std::string, Bytes> values_;
    std::map<std::string, std::unique_ptr<Pages>> pages_;
};

} // namespace parhelion
