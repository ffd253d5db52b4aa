import { expect, it } from 'vitest';
import { pageHeaders } from './page-headers.ts';

const directives = (options?: Parameters<typeof pageHeaders>[0]) =>
  new Map(
    pageHeaders(options)
      ['content-security-policy']!.split('; ')
      .map(text => {
        const [name, ...values] = text.split(' ');
        return [name!, values];
      }),
  );

it('lets a page load from its own server only, and no site frame it', () => {
  const policy = directives();
  expect(policy.get('default-src')).toEqual(["'self'"]);
  expect(policy.get('script-src')).toEqual(["'self'"]);
  expect(policy.get('style-src')).toEqual(["'self'"]);
  expect(policy.get('frame-ancestors')).toEqual(["'none'"]);
  expect(pageHeaders()).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' });
});

it('allows inline scripts by their hashes, and inline styles on demand', () => {
  const policy = directives({ inlineScripts: ['alert(1)'], allowsInlineStyles: true });
  expect(policy.get('script-src')).toEqual([
    "'self'",
    "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='",
  ]);
  expect(policy.get('style-src')).toEqual(["'self'", "'unsafe-inline'"]);
});
