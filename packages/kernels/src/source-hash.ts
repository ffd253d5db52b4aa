// Written by `pnpm kernels`: hash of the sources in `c/` and of the compiler that the prebuilt libraries were made from.

export const SOURCE_HASH = '138550e2eead6086';
