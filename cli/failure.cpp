// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <new>
#include <system_error>

namespace parhelion {

Failure failure_of(const std::exception_ptr& error)
{
    try
    {
        std::rethrow_exception(error);
    }
    catch (const InputError& e)
    {
        const bool is_usage = e.id() <= "E010" && e.id() != "E001"; // an error in the command line
        return {e.what(), is_usage ? exit_usage : exit_input};
    }
    catch (const PhysicsError& e)
    {
        return {e.what(), exit_physics};
    }
    catch (const CommError& e)
    {
        return {fmt::format("E601 {}", e.what()), exit_system, true};
    }
    catch (const SystemError& e)
    {
        return {fmt::format("E601 {}", e.what()), exit_system};
    }
    catch (const std::system_error& e) // thrown by file operations, or if a thread cannot be started
    {
        return {fmt::format("E601 {}", e.what()), exit_system};
    }
    catch (const std::bad_alloc&)
    {
        return {"E602 out of memory (the system is larger than this machine's memory).", exit_system};
    }
    catch (const std::exception& e)
    {
        return {fmt::format("internal error: {}", e.what()), exit_internal};
    }
}

} // namespace parhelion
