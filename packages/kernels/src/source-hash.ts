// Written by `pnpm kernels`: hash of the sources in `c/` and of the compiler that the prebuilt libraries were made from.

export const SOURCE_HASH = 'c6b989149f257b54';
