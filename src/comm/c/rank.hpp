// SPDX-License-Identifier: Apache-2.0
// Declares the objects behind the handles of the C interface: OwnedRequest, and Rank, which is a rank as a member of all ranks
// or of a group, and owns its requests.
#pragma once

#include "comm/c/handles.hpp"
#include "comm/c/parhelion_comm.h"
#include "comm/c/run_options.hpp"
#include "comm/partitioned/collective_calls.hpp"
#include "comm/partitioned/collectives.hpp"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace parhelion::c_interface {

using Request = std::variant<SendRequest, ReceiveRequest, CollectiveRequest>;

class Rank;

struct OwnedRequest
{
    Request request;
    Rank* rank;
};

inline HandleTable<ph_comm, Rank, HandleKind::Rank> all_ranks;
inline HandleTable<ph_request, OwnedRequest, HandleKind::Request> all_requests;

// A rank as a member of all ranks or of a group. A group numbers its ranks anew, and its requests match only each other.
class Rank
{
public:
    explicit Rank(Communicator& communicator);
    ~Rank();
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    ph_comm* handle() const { return handle_; }
    int place() const { return place_; }
    int size() const { return static_cast<int>(members().size()); }
    Partitioned& partitioned() { return *partitioned_; }
    DeadlinePauses& pauses() { return *pauses_; }
    CollectiveCalls& calls() { return calls_; }
    void abort() { communicator_->abort(); }
    // Returns the places of the members whose memory this rank can address, which are on its host.
    std::vector<int> within_reach() const;

    ph_request* add(Request request);
    void free(ph_request* request);
    // The envelope and the options of requests in this group. envelope() throws PartitionedError if no member has this place.
    Envelope envelope(int place, int tag) const;
    CollectiveOptions collective() const;

    // Returns this rank in a group of some members, given by their places in this order, itself included. All of them call,
    // in the same order if they make several groups. `what` distinguishes groups of different calls. Throws PartitionedError.
    Rank& part(const std::vector<int>& places, const std::string& what);
    Rank& whole() { return *whole_; } // returns the rank among all ranks, of which all groups are made
    // Ends a group that was made of this rank or of one of its groups. Returns false if there is no such group.
    bool end_part(ph_comm* part);

private:
    Rank(Rank& of, std::vector<int> members, std::string name);
    bool is_part() const { return whole_ != this; }
    const std::vector<int>& members() const { return is_part() ? members_ : communicator_->members(); }

    Communicator* communicator_;
    Rank* whole_;
    std::shared_ptr<Partitioned> partitioned_;
    std::shared_ptr<DeadlinePauses> pauses_;
    std::vector<int> members_; // members of a group, indexed by place; empty: all ranks
    int place_;                // place of this rank among the members
    std::string name_;         // name of a group; empty for all ranks
    CollectiveCalls calls_;
    std::unordered_map<ph_request*, std::unique_ptr<OwnedRequest>> requests_; // declared after partitioned_, which outlives them
    ph_comm* const handle_;
    std::map<std::string, int> parts_made_;           // number of groups made, by the text that distinguishes them
    std::map<ph_comm*, std::unique_ptr<Rank>> parts_; // declared last: groups end first
};

} // namespace parhelion::c_interface
