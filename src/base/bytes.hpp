// SPDX-License-Identifier: Apache-2.0
// Writes plain data to bytes and reads it back, for messages between ranks of one program. It handles no byte order or versions.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace parhelion {

class ByteWriter
{
public:
    explicit ByteWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}
    template <class T>
    void put(const T& value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&value, sizeof(T));
    }
    // Writes the number of elements, then the elements.
    template <class T>
    void put_all(const std::vector<T>& values)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        put(values.size());
        append(values.data(), values.size() * sizeof(T));
    }

private:
    void append(const void* from, std::size_t n)
    {
        const std::size_t end = bytes_.size();
        bytes_.resize(end + n);
        if (n > 0) { std::memcpy(bytes_.data() + end, from, n); }
    }
    std::vector<std::byte>& bytes_;
};

// Reads data that a ByteWriter wrote, in the same order. Reading beyond the end throws ContractError.
class ByteReader
{
public:
    explicit ByteReader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}
    template <class T>
    T get()
    {
        T value;
        take(&value, sizeof(T));
        return value;
    }
    template <class T>
    std::vector<T> get_all()
    {
        std::vector<T> values(get<std::size_t>());
        take(values.data(), values.size() * sizeof(T));
        return values;
    }

private:
    void take(void* to, std::size_t n)
    {
        PARHELION_EXPECTS(n <= bytes_.size() - next_);
        if (n > 0) { std::memcpy(to, bytes_.data() + next_, n); }
        next_ += n;
    }
    const std::vector<std::byte>& bytes_;
    std::size_t next_ = 0;
};

} // namespace parhelion
