// Written by `pnpm kernels`: hash of the sources in `c/` and of the compiler that the prebuilt libraries were made from.

export const SOURCE_HASH = '78840c1deeb2e9e5';
