// SPDX-License-Identifier: Apache-2.0
// The short vectors of CUDA, those that are used here.
#pragma once

struct alignas(8) int2
{
    int x, y;
};
struct alignas(16) int4
{
    int x, y, z, w;
};
struct alignas(4) uchar4
{
    unsigned char x, y, z, w;
};
struct uint3
{
    unsigned x, y, z;
};
struct alignas(8) uint2
{
    unsigned x, y;
};
struct alignas(16) uint4
{
    unsigned x, y, z, w;
};
struct alignas(8) float2
{
    float x, y;
};
struct float3
{
    float x, y, z;
};
struct alignas(16) float4
{
    float x, y, z, w;
};
struct alignas(16) double2
{
    double x, y;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

struct dim3
{
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
