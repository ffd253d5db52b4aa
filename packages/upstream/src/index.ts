export { prefixKey } from './prefix-key.ts';
export { createUpstream, type Upstream, type UpstreamOptions, type UpstreamRequest } from './upstream.ts';
export { UpstreamError, type UpstreamErrorCode, type UpstreamErrorDetails } from './upstream-error.ts';
