// How large the answer of one read may be, on every database: what a client asks for may be a thousand times larger than
// what it sent, and all of it is in memory at once.

/** Texts of all rows together. Unit: UTF-16 units, of which 64 Mi are at most 128 MiB. */
export const MAX_RESULT_LENGTH = 64 * 1024 * 1024;
