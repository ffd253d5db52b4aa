// Python's string formatting, `'%s' % value` and `'{}'.format(value)`, as far as chat templates need it. Any other format is
// an error, never an approximation.

import { countOccurrences } from './code-points.ts';
import { chargeItems, chargeText } from './meter.ts';
import { toRepr, toText } from './print.ts';
import { TemplateError } from './template-error.ts';
import { type Arguments, Float, numberOf, Tuple, typeName, Undefined, type Value } from './values.ts';

export function formatPercent(template: string, value: Value): string {
  const values = value instanceof Tuple ? value.items : [value];
  let used = 0;
  const next = (): Value => {
    const item = values[used++];
    if (item === undefined) throw new TemplateError('not enough arguments for format string');
    return item;
  };
  // Every match is kept until the last one is found.
  chargeItems(countOccurrences(template, '%'));
  const text = template.replace(/%(?:(?:\.(\d+))?([a-zA-Z%])|[\s\S]?)/g, (whole, precision, code) => {
    if (code === '%') return '%';
    if (code === 's' && precision === undefined) return charged(toText(next()));
    if (code === 'r' && precision === undefined) return charged(toRepr(next()));
    if (code === 'd' && precision === undefined) return toRepr(Math.trunc(toNumber(next())));
    if (code === 'f') {
      const digits = precision === undefined ? 6 : Number(precision);
      if (digits > 100) throw new TemplateError(`The precision of "${whole}" is above 100.`);
      return toNumber(next()).toFixed(digits);
    }
    throw new TemplateError(`The format "${whole}" is not supported; %s, %r, %d, %f, %.Nf and %% are.`);
  });
  // Python does not complain about an unused value that supports lookup by key.
  const isContainer = Array.isArray(value) || value instanceof Map || value instanceof Undefined;
  if (used < values.length && !isContainer) {
    throw new TemplateError('not all arguments converted during string formatting');
  }
  return text;
}

export function formatBraces(template: string, args: Arguments): string {
  let next = 0;
  chargeItems(countOccurrences(template, '{') + countOccurrences(template, '}'));
  return template.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (whole, field: string | undefined) => {
    if (whole === '{{') return '{';
    if (whole === '}}') return '}';
    if (field === undefined) throw new TemplateError(`Single '${whole}' encountered in format string`);
    if (!/^\w*$/.test(field))
      throw new TemplateError(`The format field "${whole}" is not supported; plain ones are.`);
    const value =
      field === ''
        ? args.positional[next++]
        : /^\d+$/.test(field)
          ? args.positional[Number(field)]
          : args.named.get(field);
    if (value === undefined) throw new TemplateError(`The format field "${whole}" has no value.`);
    return charged(toText(value));
  });
}

function charged(text: string): string {
  chargeText(text.length);
  return text;
}

function toNumber(value: Value): number {
  if (value instanceof Undefined) value.fail();
  const number = value instanceof Float ? value.value : numberOf(value);
  if (number === null) throw new TemplateError(`a number is required, not ${typeName(value)}`);
  return number;
}
