// SPDX-License-Identifier: Apache-2.0
#include "comm/c/rank.hpp"

#include "comm/c/guarded.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace parhelion::c_interface {

Rank::Rank(Communicator& communicator)
    : communicator_(&communicator), whole_(this), partitioned_(std::make_shared<Partitioned>(communicator)),
      pauses_(std::make_shared<DeadlinePauses>(communicator)), place_(communicator.place()), calls_(*partitioned_),
      handle_(all_ranks.add(*this))
{
    partitioned_->reserve_for_calls();
}

Rank::Rank(Rank& of, std::vector<int> members, std::string name)
    : communicator_(of.communicator_), whole_(of.whole_), partitioned_(of.partitioned_), pauses_(of.pauses_),
      members_(std::move(members)),
      place_(static_cast<int>(std::find(members_.begin(), members_.end(), communicator_->rank()) - members_.begin())),
      name_(std::move(name)), calls_(*partitioned_, members_, name_), handle_(all_ranks.add(*this))
{
}

Rank::~Rank()
{
    if (!is_part()) { partitioned_->leave(); }
    for (const auto& [request, owned] : requests_) { all_requests.remove(request); }
    all_ranks.remove(handle_);
}

std::vector<int> Rank::within_reach() const
{
    std::vector<int> places;
    for (int place = 0; place < size(); ++place)
    {
        if (communicator_->world().memory().reaches(members()[static_cast<std::size_t>(place)])) { places.push_back(place); }
    }
    return places;
}

ph_request* Rank::add(Request request)
{
    auto owned = std::make_unique<OwnedRequest>(OwnedRequest{std::move(request), this});
    ph_request* const made = all_requests.add(*owned);
    requests_.emplace(made, std::move(owned));
    return made;
}

void Rank::free(ph_request* request)
{
    all_requests.remove(request);
    requests_.erase(request);
}

Envelope Rank::envelope(int place, int tag) const
{
    expect_argument(place >= 0 && place < size(), "There is no such rank among the members.");
    return {members()[static_cast<std::size_t>(place)], tag, name_};
}

CollectiveOptions Rank::collective() const
{
    CollectiveOptions options;
    options.members = members_;
    options.group = name_;
    return options;
}

Rank& Rank::part(const std::vector<int>& places, const std::string& what)
{
    std::vector<int> members, sorted = places;
    std::sort(sorted.begin(), sorted.end());
    expect_argument(!places.empty() && sorted.front() >= 0 && sorted.back() < size(),
                    "A member of a group is a rank of this one.");
    expect_argument(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "A rank is a member of a group once.");
    expect_argument(std::binary_search(sorted.begin(), sorted.end(), place()), "This rank is no member of the group.");
    std::string name = fmt::format("{}/{}", name_, what);
    for (const int p : places)
    {
        members.push_back(this->members()[static_cast<std::size_t>(p)]);
        name += fmt::format(" {}", members.back());
    }
    name += fmt::format(" #{}", ++parts_made_[name]);
    std::unique_ptr<Rank> made(new Rank(*this, std::move(members), std::move(name)));
    Rank& part = *made;
    parts_.emplace(part.handle(), std::move(made));
    return part;
}

bool Rank::end_part(ph_comm* part)
{
    if (parts_.erase(part) > 0) { return true; }
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) { return entry.second->end_part(part); });
}

} // namespace parhelion::c_interface
