// The request parameters that the playground offers, and how the text of a field becomes the value of a parameter. What a
// parameter does and its default are not here: the server's own OpenAPI document tells them.

export type ParameterKind =
  | 'number'
  | 'integer'
  | 'boolean'
  | 'text'
  | 'lines'
  | 'integers'
  | 'json'
  | readonly string[];

export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly group: 'Sampling' | 'Length and stops' | 'Allowed tokens' | 'Prompt' | 'Other';
  /** Which of the two requests has it. */
  readonly only?: 'chat' | 'completion';
}

/** Field values by parameter, as typed. An absent or empty one is the server's default. */
export type ParameterTexts = Readonly<Record<string, string>>;

export type Mode = 'chat' | 'completion';

export const PARAMETERS: readonly Parameter[] = [
  { name: 'temperature', kind: 'number', group: 'Sampling' },
  { name: 'top_p', kind: 'number', group: 'Sampling' },
  { name: 'top_k', kind: 'integer', group: 'Sampling' },
  { name: 'min_p', kind: 'number', group: 'Sampling' },
  { name: 'seed', kind: 'integer', group: 'Sampling' },
  { name: 'presence_penalty', kind: 'number', group: 'Sampling' },
  { name: 'frequency_penalty', kind: 'number', group: 'Sampling' },
  { name: 'repetition_penalty', kind: 'number', group: 'Sampling' },
  { name: 'n', kind: 'integer', group: 'Sampling' },
  { name: 'use_beam_search', kind: 'boolean', group: 'Sampling' },
  { name: 'length_penalty', kind: 'number', group: 'Sampling' },
  { name: 'max_completion_tokens', kind: 'integer', group: 'Length and stops', only: 'chat' },
  { name: 'max_tokens', kind: 'integer', group: 'Length and stops', only: 'completion' },
  { name: 'min_tokens', kind: 'integer', group: 'Length and stops' },
  { name: 'stop', kind: 'lines', group: 'Length and stops' },
  { name: 'stop_token_ids', kind: 'integers', group: 'Length and stops' },
  { name: 'include_stop_str_in_output', kind: 'boolean', group: 'Length and stops' },
  { name: 'ignore_eos', kind: 'boolean', group: 'Length and stops' },
  { name: 'repetition_detection', kind: 'json', group: 'Length and stops' },
  { name: 'logit_bias', kind: 'json', group: 'Allowed tokens' },
  { name: 'allowed_token_ids', kind: 'integers', group: 'Allowed tokens' },
  { name: 'bad_words', kind: 'lines', group: 'Allowed tokens' },
  { name: 'skip_special_tokens', kind: 'boolean', group: 'Allowed tokens' },
  { name: 'spaces_between_special_tokens', kind: 'boolean', group: 'Allowed tokens' },
  { name: 'reasoning_effort', kind: ['low', 'medium', 'high'], group: 'Prompt', only: 'chat' },
  { name: 'include_reasoning', kind: 'boolean', group: 'Prompt', only: 'chat' },
  { name: 'truncate_prompt_tokens', kind: 'integer', group: 'Prompt' },
  { name: 'add_special_tokens', kind: 'boolean', group: 'Prompt' },
  { name: 'chat_template', kind: 'text', group: 'Prompt', only: 'chat' },
  { name: 'chat_template_kwargs', kind: 'json', group: 'Prompt', only: 'chat' },
  { name: 'documents', kind: 'json', group: 'Prompt', only: 'chat' },
  { name: 'cache_salt', kind: 'text', group: 'Other' },
  { name: 'priority', kind: 'integer', group: 'Other' },
  { name: 'user', kind: 'text', group: 'Other' },
];

/** Answers of one request that the page shows. */
const MAX_CHOICES = 16;

export interface ReadParameters {
  readonly fields: Readonly<Record<string, unknown>>;
  /** What is wrong with a text, by parameter. */
  readonly faults: Readonly<Record<string, string>>;
}

/** The parameters of a request. Ranges are left to the server, whose errors name the parameter. */
export function readParameters(texts: ParameterTexts, mode: Mode): ReadParameters {
  const fields: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const { name, kind, only } of PARAMETERS) {
    const text = texts[name] ?? '';
    if (text.trim() === '' || (only !== undefined && only !== mode)) continue;
    const read = readValue(text, kind);
    if ('fault' in read) faults[name] = read.fault;
    else fields[name] = read.value;
  }
  if (Number(fields.n) > MAX_CHOICES) faults.n = `This page shows up to ${MAX_CHOICES} answers at once.`;
  return { fields, faults };
}

/** How many answers a request asks for; 1 where the server is to say what is wrong with `n`. */
export function choiceCountOf(texts: ParameterTexts, mode: Mode): number {
  const { n } = readParameters(texts, mode).fields;
  return typeof n === 'number' && n >= 1 && n <= MAX_CHOICES ? n : 1;
}

type ReadValue = { readonly value: unknown } | { readonly fault: string };

function readValue(text: string, kind: ParameterKind): ReadValue {
  if (typeof kind !== 'string') return { value: text };
  switch (kind) {
    case 'text':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' };
    case 'lines':
      return {
        value: text
          .split('\n')
          .filter(line => line !== '')
          .map(unescapeLine),
      };
    case 'number': {
      const value = Number(text);
      return Number.isFinite(value) ? { value } : { fault: 'This is not a number.' };
    }
    case 'integer':
      return readInteger(text.trim());
    case 'integers': {
      const parts = text.split(/[\s,]+/).filter(part => part !== '');
      if (!parts.every(part => /^\d{1,10}$/.test(part)))
        return { fault: 'These are not token ids: 1, 2, 3.' };
      return { value: parts.map(Number) };
    }
    case 'json':
      try {
        return { value: JSON.parse(text) };
      } catch (error) {
        return { fault: error instanceof Error ? error.message : 'This is not JSON.' };
      }
  }
}

// Seeds have 64 bits; past 2^53 a double would be another seed.
function readInteger(text: string): ReadValue {
  if (!/^[+-]?\d{1,20}$/.test(text)) return { fault: 'This is not a whole number.' };
  const value = Number(text);
  return { value: Number.isSafeInteger(value) ? value : BigInt(text) };
}

/** A line may write a line break as `\n` and a tab as `\t`. */
function unescapeLine(line: string): string {
  return line.replace(/\\([nt\\])/g, (_, letter: string) =>
    letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\',
  );
}
