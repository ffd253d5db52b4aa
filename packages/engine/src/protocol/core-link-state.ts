// The state of a token side, reported by its link.

export type CoreLinkState = 'loading' | 'ready' | 'restarting' | 'failed' | 'closed';
