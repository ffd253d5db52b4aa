// Public surface: the schemas, types and examples of every endpoint, JSON that keeps big integers, and error items.

export * from './chat-chunk.ts';
export * from './chat-completion.ts';
export * from './chat-completion-request.ts';
export * from './chat-logprobs.ts';
export * from './chat-message.ts';
export * from './chat-prompt.ts';
export * from './chat-sampling.ts';
export * from './chat-structured-output.ts';
export * from './chat-tools.ts';
export * from './checkpoint.ts';
export * from './error.ts';
export * from './feedback.ts';
export * from './feedback-write.ts';
export { laxBigInteger, laxBoolean, laxDateTime, laxInteger, laxNumber } from './lax-primitives.ts';
export * from './lossless-json.ts';
export * from './model.ts';
export type { MetadataValue } from './scalar-union.ts';
export * from './trajectory.ts';
export * from './validation-error.ts';
