// SPDX-License-Identifier: Apache-2.0
// The kinds of error, by who caused them. The library throws them and never prints or
// exits. The command line (cli/) turns them into one screen of text and an exit code.
//   InputError    the user's files or options          exit 4   (E002 to E010: 2) says file:line, why it matters, what to do
//   PhysicsError  the simulation blew up               exit 5   says step, atom, residue, term, last good frame
//   SystemError   disk, device, transport              exit 6   says the failing call; CommError and PeerAborted are of this kind
//   ContractError a precondition is broken, our bug    exit 1; never thrown for bad input
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// A place in an input file. Line 0 means the file as a whole, an empty file name the command line.
struct SourceLocation
{
    std::string file;
    int line = 0;
    std::string text() const; // for example "topol.top:17", "topol.top" or "command line"
};

class InputError : public std::runtime_error
{
public:
    // `id` is stable, for example "E104". `message` reads "problem (why it matters). Suggestion."
    InputError(std::string id, SourceLocation where, const std::string& message);

    const std::string& id() const { return id_; }
    const SourceLocation& where() const { return where_; }
    const std::string& message() const { return message_; }

private:
    std::string id_;
    SourceLocation where_;
    std::string message_;
};

class PhysicsError : public std::runtime_error
{
public:
    PhysicsError(std::int64_t step, const std::string& message) : std::runtime_error(message), step_(step) {}
    std::int64_t step() const { return step_; }

private:
    std::int64_t step_;
};

// The number of ranks no longer fits the box or its molecules. The run may go on from its present state with fewer ranks.
class GridError : public PhysicsError
{
    using PhysicsError::PhysicsError;
};

class SystemError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// A GPU or its runtime failed. The text names the call or the kernel.
class DeviceError : public SystemError
{
    using SystemError::SystemError;
};

// A bounded wait for a peer timed out, or the transport failed. The text names rank, peer, channel, expected and seen epoch.
class CommError : public SystemError
{
    using SystemError::SystemError;
};

// This rank ended only because another rank stopped the run. It is never the primary error: callers report the other rank's.
class PeerAborted : public SystemError
{
    using SystemError::SystemError;
};

class ContractError : public std::logic_error
{
    using std::logic_error::logic_error;
};

// A warning about the input, which the user may accept with --allow and its id.
struct Warning
{
    std::string id; // for example "W012"
    SourceLocation where;
    std::string message;
    std::string text() const; // one line, for example "W012 topol.top:17  message"
};

// Warnings and notes that are gathered while input is read. Errors are thrown instead.
struct Diagnostics
{
    std::vector<Warning> warnings;
    std::vector<Warning> notes; // these go to the log and never stop a run
    void warn(std::string id, SourceLocation where, std::string message);
    void note(std::string id, SourceLocation where, std::string message);
};

[[noreturn]] void contract_failed(const char* condition, const char* file, int line);

// Returns the known word that differs from `word` by no more than a typing slip, or nothing. For "Did you mean ...?".
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known);

} // namespace parhelion

#define PARHELION_EXPECTS(condition)                                                                                             \
    ((condition) ? static_cast<void>(0) : ::parhelion::contract_failed(#condition, __FILE__, __LINE__))
