// SPDX-License-Identifier: Apache-2.0
// Four ranks, a thread each. In every round a rank sends its values to the next one and adds what comes from the one before;
// in the end all add up what they have.
#include "comm/launch/run_ranks.hpp"
#include "comm/networks/networks.hpp"

#include <cstdio>
#include <cstring>
#include <stdexcept>

using namespace parhelion;

int main()
{
    constexpr int ranks = 4, rounds = 3;
    World world(thread_network(ranks));
    run_ranks(world, [](Communicator& comm) {
        const int next = (comm.rank() + 1) % ranks, previous = (comm.rank() + ranks - 1) % ranks;
        double values[2] = {1.0 + comm.rank(), 0.0};
        const ChannelOptions options{.capacity = sizeof values}; // two slots, written again when they have been read
        SendChannel send = comm.open_send("ring", next, options);
        ReceiveChannel receive = comm.open_receive("ring", previous, options);
        for (int round = 0; round < rounds; ++round)
        {
            comm.set_tag(round); // number that the error shows if a wait reaches its deadline
            std::memcpy(send.begin(sizeof values), values, sizeof values);
            send.publish(sizeof values); // the signal: the next rank may read
            const Message message = receive.wait();
            double theirs[2];
            std::memcpy(theirs, message.data, sizeof theirs);
            receive.ack(); // the credit: the previous rank may write here again
            values[0] = theirs[0], values[1] += theirs[0];
        }
        comm.sum(values); // over all ranks, in rank order: every rank has the same bits
        if (comm.rank() == 0) { std::printf("sums: %g %g\n", values[0], values[1]); }
        if (values[0] != 10 || values[1] != 30) { throw std::runtime_error("wrong sums"); }
    });
}
