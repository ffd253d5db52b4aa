// The input of a procedure whose body is checked by its own reader: two readers would refuse one body in two ways.

import { z } from 'zod';

/**
 * An input with the type and the documentation of `documented`, of which only the fields of `checked` are checked and parsed.
 * The procedure has the rest from `readRawInput`.
 */
export function documentedInput<Documented extends z.ZodObject, Checked extends z.ZodRawShape>(
  documented: Documented,
  checked: Checked,
): z.ZodType<z.output<z.ZodObject<Checked>>, z.input<Documented>> {
  const schema = z.object(checked);
  return Object.create(documented, {
    parse: { value: schema.parse },
    parseAsync: { value: schema.parseAsync },
  }) as z.ZodType<z.output<z.ZodObject<Checked>>, z.input<Documented>>;
}
