// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/heard.hpp"

#include "base/error.hpp"

namespace parhelion {

void Heard::put(const std::string& key, Bytes value)
{
    const std::scoped_lock lock(mutex_);
    PARHELION_EXPECTS(values_.emplace(key, std::move(value)).second);
}

std::optional<Bytes> Heard::get(const std::string& key) const
{
    const std::scoped_lock lock(mutex_);
    const auto found = values_.find(key);
    return found != values_.end() ? std::optional(found->second) : std::nullopt;
}

Inbox& Heard::inbox(int rank)
{
    const std::scoped_lock lock(mutex_);
    return inboxes_[rank];
}

void Heard::listen(Bootstrap::Listener listener)
{
    const std::scoped_lock quiet(listener_mutex_);
    listener_ = std::move(listener);
    for (const Notice& notice : notices_) { listener_->on_notice(notice); }
    notices_.clear();
    if (const std::string sentence = loss(); !sentence.empty()) { listener_->on_loss(sentence); }
}

void Heard::value(const std::string& key, Bytes value)
{
    const std::scoped_lock lock(mutex_);
    values_.emplace(key, std::move(value));
}

void Heard::notice(const Notice& notice)
{
    const std::scoped_lock quiet(listener_mutex_);
    if (listener_) { listener_->on_notice(notice); }
    else { notices_.push_back(notice); }
}

void Heard::loss(const std::string& sentence)
{
    const std::scoped_lock quiet(listener_mutex_);
    {
        const std::scoped_lock lock(mutex_);
        if (!loss_.empty()) { return; }
        loss_ = sentence;
    }
    if (listener_) { listener_->on_loss(sentence); }
}

std::string Heard::loss() const
{
    const std::scoped_lock lock(mutex_);
    return loss_;
}

} // namespace parhelion
