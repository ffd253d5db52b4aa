// Headers of pages that browsers show: they run scripts of this server only, and no other site shows them in a frame. For the pages
// under /docs and the console.

import { createHash } from 'node:crypto';

export interface PageHeaderOptions {
  /** Texts of inline scripts of the page, which are allowed by their hashes. */
  readonly inlineScripts?: readonly string[];
  /** Whether scripts of the page set styles on elements and embed images and fonts in them. Default: false. */
  readonly allowsInlineStyles?: boolean;
}

/** The headers of one page. Source: https://www.w3.org/TR/CSP3/ */
export function pageHeaders({
  inlineScripts = [],
  allowsInlineStyles = false,
}: PageHeaderOptions = {}): Record<string, string> {
  const scripts = ["'self'", ...inlineScripts.map(toHash)];
  const styles = ["'self'", ...(allowsInlineStyles ? ["'unsafe-inline'"] : [])];
  const policy = [
    "default-src 'self'",
    `script-src ${scripts.join(' ')}`,
    `style-src ${styles.join(' ')}`,
    ...(allowsInlineStyles ? ["img-src 'self' data: blob:", "font-src 'self' data:"] : []),
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    ...SAFE_REPLY_HEADERS,
    'content-security-policy': policy.join('; '),
    // For browsers that do not know frame-ancestors.
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  };
}

/** Headers of every reply: a browser never guesses another content type, nor tells other sites what was read here. */
export const SAFE_REPLY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function toHash(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}
