// SPDX-License-Identifier: Apache-2.0
// Pages of memory for messages between ranks: address space until touched.
#pragma once

#include <cstddef>

namespace parhelion {

class Pages
{
public:
    explicit Pages(std::size_t bytes);        // of this process
    Pages(std::size_t bytes, int descriptor); // of all that map this descriptor, which may be closed afterwards
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

private:
    Pages(std::size_t bytes, int descriptor, int flags);

    std::byte* data_;
    std::size_t bytes_;
};

} // namespace parhelion
