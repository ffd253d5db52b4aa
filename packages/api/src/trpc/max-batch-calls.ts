/** Most calls in one tRPC request. A batch link takes it as `maxItems`, and splits larger batches. */
export const MAX_BATCH_CALLS = 16;
