// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuFFT's header: three-dimensional transforms between real and complex numbers, with cuFFT's own meaning.
#pragma once

#include <cuda_runtime.h>

enum cufftResult
{
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_INVALID_SIZE = 8
};
enum cufftType
{
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c
};
using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
struct cufftComplex
{
    float x, y;
};
struct cufftDoubleComplex
{
    double x, y;
};

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int is_automatic);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* lengths, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int planes, std::size_t* work_bytes);
cufftResult cufftSetWorkArea(cufftHandle plan, void* work);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* from, cufftComplex* to);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* from, cufftReal* to); // `from` is lost
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* from, cufftDoubleComplex* to);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleReal* to);
