// The chat templates of a GGUF file: the default one and named ones, `tokenizer.chat_template.NAME`.

import type { MetadataFields } from './metadata-fields.ts';
import type { NamedChatTemplate } from './tokenizer-json.ts';

const TEMPLATE_KEY = 'tokenizer.chat_template';

/** As tokenizer_config.json has them; undefined where the file has none. Throws: `corrupt`. */
export function readChatTemplates(fields: MetadataFields): string | readonly NamedChatTemplate[] | undefined {
  const template = fields.text(TEMPLATE_KEY);
  const named = fields
    .keysAfter(`${TEMPLATE_KEY}.`)
    .map(name => ({ name, template: fields.text(`${TEMPLATE_KEY}.${name}`)! }));
  if (named.length === 0) return template;
  return template === undefined ? named : [{ name: 'default', template }, ...named];
}
