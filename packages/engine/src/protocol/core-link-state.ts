// How a token side is, as its link sees it.

export type CoreLinkState = 'loading' | 'ready' | 'restarting' | 'failed' | 'closed';
