// SPDX-License-Identifier: Apache-2.0
// Memory pages for messages between ranks. They are only address space until they are touched.
#pragma once

#include <cstddef>

namespace parhelion {

class Pages
{
public:
    explicit Pages(std::size_t bytes);        // pages that are private to this process
    Pages(std::size_t bytes, int descriptor); // shares the pages of a file descriptor, which may be closed afterwards
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
