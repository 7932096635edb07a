// SPDX-License-Identifier: Apache-2.0
// What happens when the network or a rank does what it must not: a clean end within the deadline that says who missed what.
#include "comm/ranks.hpp"

#include <array>
#include <gmock/gmock-matchers.h>

using namespace parhelion;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

constexpr auto deadline = 1s;                         // more than a busy machine keeps a rank from running
constexpr std::chrono::nanoseconds far_deadline = 3s; // of tests in which no rank may time out, though they wait for as long
constexpr int epochs = 60;
const ChannelOptions small{2, Credits::Yes, 64};

// How long ranks wait for each other, and what is wrong with their network.
struct Connection
{
    std::chrono::nanoseconds wait;
    PeerAccess access = PeerAccess::Pointers;
    std::function<Network(Network)> spoil = [](Network network) { return network; };
};

Connection with_incident(const Incident& incident, std::uint64_t seed, std::chrono::nanoseconds wait = deadline)
{
    FaultPlan plan;
    plan.seed = seed;
    plan.incidents = {incident};
    return {wait, PeerAccess::Pointers, [plan](Network network) { return with_faults(std::move(network), plan); }};
}

void send_all(Communicator& c, int peer)
{
    SendChannel send = c.open_send("lossy 3", peer, small);
    for (int e = 0; e < epochs; ++e)
    {
        c.set_tag(1000 + e);
        const Payload payload{send.next_epoch(), c.rank(), peer};
        send_payload(send, payload, 64);
    }
}

void receive_all(Communicator& c, int peer)
{
    ReceiveChannel receive = c.open_receive("lossy 3", peer, small);
    for (int e = 0; e < epochs; ++e)
    {
        c.set_tag(2000 + e);
        const Payload payload{receive.next_epoch(), peer, c.rank()};
        const Message message = receive.wait();
        payload.check(message, 64);
        poison(message);
        receive.ack();
    }
}

void ring(Communicator& c)
{
    const int next = (c.rank() + 1) % c.ranks(), previous = (c.rank() + c.ranks() - 1) % c.ranks();
    SendChannel send = c.open_send("ring", next, small);
    ReceiveChannel receive = c.open_receive("ring", previous, small);
    for (int e = 0; e < epochs; ++e)
    {
        const Payload ours{send.next_epoch(), c.rank(), next}, theirs{receive.next_epoch(), previous, c.rank()};
        send_payload(send, ours, 64);
        const Message message = receive.wait();
        theirs.check(message, 64);
        poison(message);
        receive.ack();
    }
}

// The text of a rank's end, and its kind: "CommError", "PeerAborted", another exception's own text, or "" if it ended well.
struct End
{
    std::string kind;
    std::string text;
};

End end_of(const std::exception_ptr& error)
{
    if (!error) { return {}; }
    try
    {
        std::rethrow_exception(error);
    }
    catch (const CommError& e)
    {
        return {"CommError", e.what()};
    }
    catch (const PeerAborted& e)
    {
        return {"PeerAborted", e.what()};
    }
    catch (const std::exception& e)
    {
        return {"other", e.what()};
    }
}

struct FaultCase
{
    const char* name;
    int ranks_of_process = 0; // 0: all ranks are threads of the test
    Carrier carrier = Carrier::Memory;
};

class Faults : public testing::TestWithParam<FaultCase>
{
protected:
    static std::vector<End> run_to_the_end(const Connection& connection, int ranks,
                                           const std::function<void(Communicator&)>& body)
    {
        WorldOptions options;
        options.payload_bytes = std::size_t{1} << 24;
        options.deadline = connection.wait;
        struct SharedEnd
        {
            char kind[16], text[240];
        };
        const Shared<std::array<SharedEnd, 8>> shared;
        const auto be_ranks = [&](Network network) {
            const int first = network.bootstrap->here().first;
            World world(connection.spoil(std::move(network)), options);
            const std::vector<std::exception_ptr> errors = outcomes(world, body);
            for (std::size_t place = 0; place < errors.size(); ++place)
            {
                const End end = end_of(errors[place]);
                SharedEnd& ours = (*shared).at(static_cast<std::size_t>(first) + place);
                end.kind.copy(ours.kind, sizeof ours.kind - 1);
                end.text.copy(ours.text, sizeof ours.text - 1);
            }
        };
        const auto start = std::chrono::steady_clock::now();
        const int of_process = GetParam().ranks_of_process;
        if (of_process == 0) { on_worlds(GetParam().carrier, connection.access, ranks, be_ranks, options.deadline); }
        else
        {
            run_in_processes({.processes = (ranks + of_process - 1) / of_process, .ranks = ranks},
                             [&](std::unique_ptr<Bootstrap> bootstrap) {
                                 be_ranks(network_of_host(GetParam().carrier, connection.access, std::move(bootstrap)));
                                 return 0;
                             });
        }
        EXPECT_LT(std::chrono::steady_clock::now() - start, options.deadline + 5s);
        std::vector<End> ends;
        for (int rank = 0; rank < ranks; ++rank)
        {
            const SharedEnd& end = (*shared).at(static_cast<std::size_t>(rank));
            ends.push_back({end.kind, end.text});
        }
        return ends;
    }
    // One rank tells what it missed. Where ranks share no word, several may come to their deadlines at once.
    static void expect_tellers(const std::vector<End>& ends);
};

std::int64_t count(const std::vector<End>& ends, const std::string& kind)
{
    return std::count_if(ends.begin(), ends.end(), [&](const End& end) { return end.kind == kind; });
}

void Faults::expect_tellers(const std::vector<End>& ends)
{
    const std::int64_t tellers = count(ends, "CommError");
    EXPECT_GE(tellers, 1);
    if (is_of_host(GetParam().carrier)) { EXPECT_EQ(tellers, 1); }
}

} // namespace

TEST_P(Faults, a_lost_message_is_named_with_channel_and_epochs)
{
    // The last but one of the messages: the sender has nothing to wait for, so the receiver speaks.
    const Incident lost{Incident::Kind::LostPut, 0, epochs - 2};
    const auto ends =
        run_to_the_end(with_incident(lost, 1), 2, [](Communicator& c) { c.rank() == 0 ? send_all(c, 1) : receive_all(c, 0); });
    EXPECT_EQ(ends[0].kind, "");
    EXPECT_EQ(ends[1].kind, "CommError");
    EXPECT_THAT(ends[1].text, HasSubstr("Rank 1 timed out after 1 s waiting for a message from rank 0: channel 'lossy 3', "
                                        "epoch expected 59, seen 57, credit 60, in round 2058."));
}

TEST_P(Faults, a_lost_credit_is_named_by_the_sender)
{
    const Incident lost{Incident::Kind::LostPut, 1, 9}; // the credit of epoch 10
    const auto ends = run_to_the_end(with_incident(lost, 1), 2, [](Communicator& c) {
        if (c.rank() == 0) { return send_all(c, 1); }
        ReceiveChannel receive = c.open_receive("lossy 3", 0, small);
        for (int e = 0; e < 11; ++e)
        {
            receive.wait();
            receive.ack();
        }
    });
    EXPECT_EQ(ends[1].kind, "");
    EXPECT_EQ(ends[0].kind, "CommError");
    EXPECT_THAT(ends[0].text, HasSubstr("Rank 0 timed out after 1 s waiting for a free slot from rank 1: channel 'lossy 3', "
                                        "epoch expected 10, seen 8, credit 10, in round 1011."));
}

TEST_P(Faults, whatever_is_lost_one_rank_tells_and_all_end)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(static_cast<unsigned>(seed));
        const Incident lost{Incident::Kind::LostPut, static_cast<int>(random() % 3),
                            static_cast<std::int64_t>(random() % epochs)};
        const auto ends = run_to_the_end(with_incident(lost, seed, 100ms), 3, ring);
        expect_tellers(ends);
        EXPECT_EQ(count(ends, "other"), 0);
    }
}

TEST_P(Faults, a_rank_that_stalls_and_resumes_in_time_does_no_harm)
{
    const Incident stall{Incident::Kind::Stall, 1, 20, 400ms};
    const auto ends = run_to_the_end(with_incident(stall, 1, 20s), 3, ring);
    for (const End& end : ends) { EXPECT_EQ(end.kind, "") << end.text; }
}

TEST_P(Faults, a_rank_that_stalls_for_too_long_learns_that_it_was_given_up)
{
    const Incident stall{Incident::Kind::Stall, 1, 20, 3 * deadline};
    const auto ends = run_to_the_end(with_incident(stall, 1), 3, ring);
    expect_tellers(ends);
    EXPECT_EQ(count(ends, "CommError") + count(ends, "PeerAborted"), 3);
    EXPECT_EQ(ends[1].kind, "PeerAborted");
}

TEST_P(Faults, a_rank_may_be_away_for_longer_than_others_wait)
{
    const auto exchange = [](Communicator& c) {
        const int peer = 1 - c.rank();
        const SetupMessage setup_message{peer, Bytes(10)};
        c.exchange(std::span(&setup_message, 1), std::span(&peer, 1));
    };
    for (const auto& wait : {std::function<void(Communicator&)>(ring), std::function<void(Communicator&)>(exchange)})
    {
        const auto ends = run_to_the_end({far_deadline}, 2, [&](Communicator& c) {
            c.barrier();
            if (c.rank() == 0)
            {
                c.pause_deadlines();
                std::this_thread::sleep_for(1.5 * far_deadline);
                c.resume_deadlines();
            }
            wait(c);
        });
        for (const End& end : ends) { EXPECT_EQ(end.kind, "") << end.text; }
    }
}

TEST_P(Faults, a_wait_has_the_whole_deadline_again_once_a_rank_is_back)
{
    const auto ends = run_to_the_end({far_deadline}, 3, [](Communicator& c) {
        c.barrier();
        if (c.rank() == 0) // late by more than the deadline in all, but away in the middle of it, if only for an instant
        {
            std::this_thread::sleep_for(0.6 * far_deadline);
            c.pause_deadlines();
            c.resume_deadlines();
            std::this_thread::sleep_for(0.6 * far_deadline);
        }
        ring(c);
    });
    for (const End& end : ends) { EXPECT_EQ(end.kind, "") << end.text; }
}

TEST_P(Faults, a_rank_that_is_back_and_stuck_ends_all_others)
{
    const auto ends = run_to_the_end({deadline}, 3, [](Communicator& c) {
        c.barrier();
        if (c.rank() == 0)
        {
            for (int i = 0; i < 3; ++i)
            {
                c.pause_deadlines();
                c.resume_deadlines();
            }
            throw RankDied();
        }
        ring(c);
    });
    expect_tellers(ends);
    EXPECT_EQ(count(ends, "CommError") + count(ends, "PeerAborted"), 2);
}

// Nor does one that is away for ever keep the others from a failure of another kind.
TEST_P(Faults, the_error_of_a_rank_ends_all_others_while_one_is_away)
{
    const auto start = std::chrono::steady_clock::now();
    const auto ends = run_to_the_end({60s}, 3, [](Communicator& c) {
        c.barrier();
        if (c.rank() == 0)
        {
            c.pause_deadlines();
            return;
        }
        if (c.rank() == 1) { throw PhysicsError(17, "too hot"); }
        ring(c);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
    EXPECT_EQ(ends[1].text, "too hot");
    EXPECT_EQ(ends[2].kind, "PeerAborted");
}

TEST_P(Faults, the_death_of_a_rank_ends_all_others)
{
    for (const std::int64_t put : {0, 1, 7, 50, 99})
    {
        const auto ends = run_to_the_end(with_incident({Incident::Kind::Death, 2, put}, 1), 4, ring);
        EXPECT_EQ(ends[2].kind, "");
        expect_tellers(ends);
        EXPECT_EQ(count(ends, "CommError") + count(ends, "PeerAborted"), 3);
    }
}

TEST_P(Faults, a_rank_that_fails_for_another_reason_is_the_primary_error)
{
    for (const TransportCase& transport : transport_cases)
    {
        if (transport.ranks_of_process != GetParam().ranks_of_process || transport.carrier != GetParam().carrier) { continue; }
        const Connection connection{60s, transport.inner_access(),
                                    [&](Network network) { return transport.with_its_faults(std::move(network), 1); }};
        const auto start = std::chrono::steady_clock::now();
        const auto ends = run_to_the_end(connection, 3, [](Communicator& c) {
            std::this_thread::sleep_for(1ms * c.rank());
            if (c.rank() == 1) { throw PhysicsError(17, "too hot"); }
            ring(c);
        });
        EXPECT_LT(std::chrono::steady_clock::now() - start, 30s); // nobody waits for his own deadline
        EXPECT_EQ(ends[1].text, "too hot");
        EXPECT_EQ(count(ends, "PeerAborted"), 2);
        EXPECT_THAT(ends[0].text, HasSubstr("Rank 0 stopped because rank 1 did."));
    }
}

TEST_P(Faults, a_signal_before_its_data_is_caught_by_the_payload)
{
    for (std::uint64_t seed = 0; seed < 20; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto put = static_cast<std::int64_t>(seed * 7 % epochs);
        const auto ends = run_to_the_end(with_incident({Incident::Kind::EarlySignal, 0, put}, seed, 10s), 2,
                                         [](Communicator& c) { c.rank() == 0 ? send_all(c, 1) : receive_all(c, 0); });
        EXPECT_EQ(ends[1].kind, "other");
        EXPECT_THAT(ends[1].text, HasSubstr("payload of epoch " + std::to_string(put + 1) + " "));
    }
}

TEST_P(Faults, sums_and_parcels_name_what_they_miss)
{
    const Incident lost{Incident::Kind::LostPut, 0, 0};
    const auto sums = run_to_the_end(with_incident(lost, 1), 2, [](Communicator& c) {
        if (c.rank() == 0) { return c.barrier(); }
        double value = 1;
        c.sum(std::span(&value, 1));
    });
    EXPECT_EQ(sums[0].kind, "");
    EXPECT_EQ(sums[1].kind, "CommError");
    EXPECT_THAT(sums[1].text, HasSubstr("channel 'sum over ranks', epoch expected 1, seen 0"));

    const auto setup_messages = run_to_the_end(with_incident(lost, 1), 2, [](Communicator& c) {
        const SetupMessage setup_message{1, Bytes(10)};
        const int source = 0;
        c.rank() == 0 ? c.exchange(std::span(&setup_message, 1), {}) : c.exchange({}, std::span(&source, 1));
    });
    EXPECT_EQ(setup_messages[0].kind, "");
    EXPECT_EQ(setup_messages[1].kind, "CommError");
    EXPECT_THAT(setup_messages[1].text, HasSubstr("channel 'setup messages', epoch expected 1, seen 0"));
}

TEST_P(Faults, a_member_that_does_not_come_is_named_and_ends_all_ranks_whatever_their_group)
{
    const auto ends = run_to_the_end({deadline}, 5, [](Communicator& c) {
        RankGroup group = c.group(c.rank() < 3 ? std::vector<int>{2, 0, 1} : std::vector<int>{3, 4});
        if (c.rank() == 1) { return; }
        do {
            group.barrier(); // 3 and 4 do well, until they are told
        } while (c.rank() >= 3);
    });
    EXPECT_EQ(ends[1].kind, "");
    expect_tellers(ends);
    EXPECT_EQ(count(ends, "CommError") + count(ends, "PeerAborted"), 4);
    const End& first = ends[0].kind == "CommError" ? ends[0] : ends[2];
    EXPECT_THAT(first.text, HasSubstr("for a message from rank 1: channel 'sum over ranks 2 0 1', epoch expected 1, seen 0"));
}

TEST_P(Faults, an_end_that_is_never_opened_is_named)
{
    const auto channel = run_to_the_end({deadline}, 2, [](Communicator& c) {
        if (c.rank() == 0) { c.open_send("one way", 1, small).begin(0); }
    });
    EXPECT_EQ(channel[0].kind, "CommError");
    EXPECT_EQ(channel[0].text, "Rank 0 timed out after 1 s waiting for rank 1 to open channel 'one way', in round -1.");
    const auto setup_message = run_to_the_end({deadline}, 2, [](Communicator& c) {
        const SetupMessage one{1, Bytes(1)};
        if (c.rank() == 0) { c.exchange(std::span(&one, 1), {}); }
    });
    EXPECT_EQ(setup_message[0].kind, "CommError");
    EXPECT_EQ(setup_message[0].text,
              "Rank 0 timed out after 1 s waiting for rank 1 to open channel 'setup messages', in round -1.");
}

TEST_P(Faults, a_parcel_nobody_takes_is_named_by_its_sender)
{
    const auto ends = run_to_the_end({deadline}, 2, [](Communicator& c) {
        const SetupMessage small{1, Bytes(1)}, large{1, Bytes(1'000'000)};
        const int source = 0;
        if (c.rank() == 1) { return static_cast<void>(c.exchange({}, std::span(&source, 1))); }
        c.exchange(std::span(&small, 1), {});
        c.exchange(std::span(&large, 1), {});
    });
    EXPECT_EQ(ends[0].kind, "CommError");
    EXPECT_THAT(ends[0].text, HasSubstr("a free slot from rank 1: channel 'setup messages', epoch expected 2, seen 0, credit 2"));
}

const FaultCase fault_cases[] = {
    {"threads"},
    {"apart", 0, Carrier::Calls},
    {"tcp", 0, Carrier::Streams},
    {"nics", 0, Carrier::Nics},
#if !defined(__SANITIZE_THREAD__) // as for transport_cases
    {"joined", 0, Carrier::Joined},
    {"joined_from_two_hosts", 0, Carrier::TwoHosts},
    {"processes_of_1", 1},
    {"processes_of_2", 2},
#endif
};
INSTANTIATE_TEST_SUITE_P(Ranks, Faults, testing::ValuesIn(fault_cases), [](const auto& i) { return i.param.name; });
