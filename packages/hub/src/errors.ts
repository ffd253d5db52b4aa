// The error class of this package and its closed list of codes. Callers switch on `code`; messages are for people.

/**
 * Why a model could not be had.
 *
 * - `reference_invalid`: the text is not a model name.
 * - `repository_not_found`: no such repository, or a private one and no token.
 * - `not_found`: the repository has no such revision, file or quantisation.
 * - `access_denied`: the repository is gated, or the token is wrong or lacks a permission.
 * - `unsupported`: the repository has no weights in a format that is built.
 * - `not_cached`: offline, and the cache does not have the model.
 * - `unreachable`: no connection, or it failed again and again.
 * - `rate_limited`: the Hub asks to come back later.
 * - `reply_invalid`: a reply of the Hub breaks its protocol.
 * - `hash_mismatch`: a file has another hash than the Hub announced, also after a second download.
 * - `no_space`: the disk has less free space than the files need.
 * - `write_failed`: the cache cannot be written.
 */
export type HubErrorCode =
  | 'reference_invalid'
  | 'repository_not_found'
  | 'not_found'
  | 'access_denied'
  | 'unsupported'
  | 'not_cached'
  | 'unreachable'
  | 'rate_limited'
  | 'reply_invalid'
  | 'hash_mismatch'
  | 'no_space'
  | 'write_failed';

/** The error that every public function of this package throws, apart from the reason of an aborted signal. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;

  constructor(code: HubErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
