export type { BreakerState } from './circuit-breaker.ts';
export { prefixKey } from './prefix-key.ts';
export type { ServerState } from './server-pool.ts';
export { createUpstream, type Upstream, type UpstreamOptions, type UpstreamRequest } from './upstream.ts';
export { UpstreamError, type UpstreamErrorCode, type UpstreamErrorDetails } from './upstream-error.ts';
