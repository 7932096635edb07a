// SPDX-License-Identifier: Apache-2.0
// What can go wrong, by whose hand. The library throws these and never prints or exits; the program's edge (cli/) turns them into
// one screen of text and an exit code.
//   InputError    the user's files or options          exit 4   (E002 to E010: 2) says file:line, why it matters, what to do
//   PhysicsError  the simulation blew up               exit 5   says step, atom, residue, term, last good frame
//   SystemError   disk, device, transport              exit 6   says the failing call; CommError and PeerAborted are of this kind
//   ContractError our bug: a precondition is broken    exit 1; never the answer to bad input
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace parhelion {

// A place in an input file; line 0 = the file as a whole, empty file = the command line.
struct SourceLocation
{
    std::string file;
    int line = 0;
    std::string text() const; // "topol.top:17", "topol.top", "command line"
};

class InputError : public std::runtime_error
{
public:
    // id is stable ("E104"); message reads "problem (why it matters). Suggestion."
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

// The ranks cannot go on with what has become of the box or its molecules; fewer of them may, from the state as it is.
class GridError : public PhysicsError
{
    using PhysicsError::PhysicsError;
};

class SystemError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

// A GPU or its runtime failed; the text names the call or the kernel.
class DeviceError : public SystemError
{
    using SystemError::SystemError;
};

// A bounded wait for a peer ran out, or the transport failed: names rank, peer, channel, epoch expected and seen.
class CommError : public SystemError
{
    using SystemError::SystemError;
};

// This rank ended only because another one stopped the run. Never the primary error: whoever runs the ranks reports the other's.
class PeerAborted : public SystemError
{
    using SystemError::SystemError;
};

class ContractError : public std::logic_error
{
    using std::logic_error::logic_error;
};

// Something the user should know and may accept one by one with --allow ID.
struct Warning
{
    std::string id; // "W012"
    SourceLocation where;
    std::string message;
    std::string text() const; // one line: "W012 topol.top:17  message"
};

// Warnings and notes gathered while reading; errors are thrown.
struct Diagnostics
{
    std::vector<Warning> warnings;
    std::vector<Warning> notes; // for the log; never stop a run
    void warn(std::string id, SourceLocation where, std::string message);
    void note(std::string id, SourceLocation where, std::string message);
};

[[noreturn]] void contract_failed(const char* condition, const char* file, int line);

// The known word nearest to `word` if it is near enough to be a typing slip, else empty: for "Did you mean ...?".
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known);

} // namespace parhelion

#define PARHELION_EXPECTS(condition)                                                                                             \
    ((condition) ? static_cast<void>(0) : ::parhelion::contract_failed(#condition, __FILE__, __LINE__))
