// A string between tags: as it is, or between the marks that some dialects put around strings with characters of XML.

import type { ArgumentsForm } from './tool-dialect.ts';

const XML_CHARACTERS = /[<&\n]/;

export function taggedString(
  { wrap }: Extract<ArgumentsForm, { readonly kind: 'tagged' }>,
  value: string,
): string {
  return wrap !== undefined && XML_CHARACTERS.test(value) ? wrap.open + value + wrap.close : value;
}
