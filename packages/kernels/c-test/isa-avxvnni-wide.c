// The code for AVX-VNNI with the same instruction in the encoding of AVX-512, so that machines without AVX-VNNI run it.
#include <immintrin.h>
#undef _mm256_dpbusd_avx_epi32
#define _mm256_dpbusd_avx_epi32 _mm256_dpbusd_epi32
#undef __AVXVNNI__
#define __AVXVNNI__ 1
#include "../c/isa-avxvnni.c"
