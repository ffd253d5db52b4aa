// The tools of one request: the dialect of the model, the prompt with the tools in it, and the functions as the grammar and
// the parser take them.

import type { Tool, ToolDialect } from '@ortler/tool-calling';
import type { GenerationRequest, Prompt } from '../request/generation-request.ts';
import type { ToolDefinition } from '../request/tools.ts';
import type { ValidTools } from '../request/validate-tools.ts';
import type { ChatTemplates } from '../text/chat-template.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { ToolDialects } from '../text/tools/tool-dialects.ts';
import { writePastCalls } from '../text/tools/written-calls.ts';
import { writeTools } from '../text/tools/written-tools.ts';

export interface RequestTools extends Pick<ValidTools, 'choice' | 'parallel' | 'style'> {
  readonly dialect: ToolDialect;
  readonly tools: readonly Tool[];
  /** Ids of the dialect's own special tokens: their text is kept for the parser. */
  readonly specialIds: ReadonlySet<number>;
}

export interface ToolDependencies {
  readonly templates: Pick<ChatTemplates, 'select'>;
  readonly dialects: ToolDialects;
  readonly tokenizer: Pick<Tokenizer, 'tokenId'>;
}

/** Without tools: the prompt as it is, and null. Throws: `template_failed` where there is no chat template. */
export function readTools(
  { prompt }: Pick<GenerationRequest, 'prompt'>,
  valid: ValidTools | undefined,
  { templates, dialects, tokenizer }: ToolDependencies,
): { readonly prompt: Prompt; readonly tools: RequestTools | null } {
  if (valid === undefined || typeof prompt === 'string' || prompt.messages === undefined)
    return { prompt, tools: null };
  const { definitions, choice, parallel, style } = valid;
  const functions = definitions.map(toFunction);
  const template = templates.select({ ...prompt.template, tools: functions });
  const { dialect, isWritten, writesCalls } = dialects.choose(template);
  const messages = writesCalls ? writePastCalls(prompt.messages, dialect) : prompt.messages;
  return {
    prompt: isWritten
      ? { ...prompt, messages: writeTools(messages, functions) }
      : { ...prompt, messages, template: { ...prompt.template, tools: functions } },
    tools: {
      dialect,
      tools: definitions.map(toTool),
      choice,
      parallel,
      ...(style !== undefined && { style }),
      specialIds: new Set(marksOf(dialect).flatMap(mark => tokenizer.tokenId(mark) ?? [])),
    },
  };
}

const NO_ARGUMENTS = { type: 'object', properties: {} };

const toTool = ({ name, parameters = NO_ARGUMENTS, strict = false }: ToolDefinition): Tool => ({
  name,
  parameters,
  isStrict: strict,
});

/** A function in the form that chat templates read. */
function toFunction({ name, description, parameters = NO_ARGUMENTS }: ToolDefinition) {
  return {
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

const MARK = /<[^<>]*>|\[[A-Z_]+\]/g;

/** Texts of a dialect that are special tokens in many vocabularies. */
function marksOf({ section, call, alsoRead = [], arguments: form }: ToolDialect): readonly string[] {
  const parts = [...call, ...alsoRead.flatMap(other => other.call)];
  const texts = parts.map(part => (typeof part === 'object' ? part.text : ''));
  const quote = form.kind === 'literals' && form.notation.quote !== 'json' ? form.notation.quote.mark : '';
  return [...texts, section.open, section.close, quote].flatMap(text => text.match(MARK) ?? []);
}
