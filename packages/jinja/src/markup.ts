// The result of the filter `safe`. Chat templates are not escaped, but Python still escapes the other side
// where such a text is added to a plain one: `"<b>" | safe + name`. Kept in variables and through conditions;
// everywhere else it is a plain text.

import { chargeItems, chargeText } from './meter.ts';
import type { Value } from './values.ts';

export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a variable or an operand may have. */
export type Marked = Value | Markup;

export function toPlain(value: Marked): Value {
  return value instanceof Markup ? value.text : value;
}

/** The sum of two texts of which at least one is markup; null for other operands. */
export function addMarkup(left: Marked, right: Marked): Markup | null {
  if (!(left instanceof Markup) && !(right instanceof Markup)) return null;
  const [before, after] = [escapePlain(left), escapePlain(right)];
  if (before === null || after === null) return null;
  chargeText(before.length + after.length);
  return new Markup(before + after);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

function escapePlain(value: Marked): string | null {
  if (value instanceof Markup) return value.text;
  if (typeof value !== 'string') return null;
  return value.replace(/[&<>'"]/g, character => {
    chargeItems(1);
    return ENTITIES[character]!;
  });
}
