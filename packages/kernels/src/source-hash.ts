// Written by `pnpm kernels`: hash of the sources in `c/` and of the compiler that the prebuilt libraries were made from.

export const SOURCE_HASH = '65fc44bdc9b4fc1c';
