// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstraps/process_errors.hpp"

#include "base/error.hpp"
#include "comm/core/failures.hpp"

#include <algorithm>

namespace parhelion {

ProcessPacket packet_of(const std::exception_ptr& error)
{
    ProcessPacket packet{.says = ProcessSays::Failed, .failure = FailureKind::System};
    try
    {
        std::rethrow_exception(error);
    }
    catch (const InputError& e)
    {
        packet.failure = FailureKind::Input;
        packet.size = static_cast<std::uint64_t>(e.where().line);
        packet.key = e.id() + '\0' + e.where().file;
        packet.text = e.message();
    }
    catch (const PhysicsError& e)
    {
        packet.failure = FailureKind::Physics;
        packet.size = static_cast<std::uint64_t>(e.step());
        packet.text = e.what();
    }
    catch (const PeerAborted& e)
    {
        packet.failure = FailureKind::PeerAborted;
        packet.text = e.what();
    }
    catch (const ProgramStopped& e)
    {
        packet.failure = FailureKind::ProgramStopped;
        packet.text = e.what();
    }
    catch (const MemoryFull& e)
    {
        packet.failure = FailureKind::MemoryFull;
        packet.text = e.what();
    }
    catch (const LimitReached& e)
    {
        packet.failure = FailureKind::LimitReached;
        packet.text = e.what();
    }
    catch (const LostRank& e)
    {
        packet.failure = FailureKind::LostRank;
        packet.text = e.what();
    }
    catch (const CommError& e)
    {
        packet.failure = FailureKind::Comm;
        packet.text = e.what();
    }
    catch (const ContractError& e)
    {
        packet.failure = FailureKind::Contract;
        packet.text = e.what();
    }
    catch (const std::exception& e)
    {
        packet.text = e.what();
    }
    packet.text.resize(std::min(packet.text.size(), most_packet_bytes / 2));
    return packet;
}

[[noreturn]] void throw_error_of(const ProcessPacket& packet)
{
    switch (packet.failure)
    {
    case FailureKind::Input: {
        const std::size_t middle = packet.key.find('\0');
        throw InputError(packet.key.substr(0, middle), {packet.key.substr(middle + 1), static_cast<int>(packet.size)},
                         packet.text);
    }
    case FailureKind::Physics:
        throw PhysicsError(static_cast<std::int64_t>(packet.size), packet.text);
    case FailureKind::Comm:
        throw CommError(packet.text);
    case FailureKind::PeerAborted:
        throw PeerAborted(packet.text);
    case FailureKind::Contract:
        throw ContractError(packet.text);
    case FailureKind::ProgramStopped:
        throw ProgramStopped(packet.text);
    case FailureKind::MemoryFull:
        throw MemoryFull(packet.text);
    case FailureKind::LimitReached:
        throw LimitReached(packet.text);
    case FailureKind::LostRank:
        throw LostRank(packet.text);
    case FailureKind::System:
        break;
    }
    throw SystemError(packet.text);
}

} // namespace parhelion
