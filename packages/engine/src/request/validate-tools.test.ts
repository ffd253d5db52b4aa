import { describe, expect, it } from 'vitest';
import type { GenerationRequest } from './generation-request.ts';
import type { ToolDefinition, ToolsRequest } from './tools.ts';
import { validateTools } from './validate-tools.ts';

const prompt = { messages: [{ role: 'user', content: 'Hi' }] };
const validate = (tools: ToolsRequest, others: Partial<GenerationRequest> = {}) =>
  validateTools({ prompt, tools, ...others });
const tool = (changes: Partial<ToolDefinition> = {}): ToolDefinition => ({ name: 'find', ...changes });

describe('validateTools', () => {
  it('fills the defaults', () => {
    const definitions = [tool(), tool({ name: 'mcp.files_read-all', parameters: {} })];
    expect(validate({ definitions })).toEqual({ definitions, choice: 'auto', parallel: true });
    const asked = { definitions, choice: { name: 'find' }, parallel: false };
    expect(validate(asked)).toEqual(asked);
  });

  it('has nothing to say without tools', () => {
    expect(validateTools({ prompt })).toBeUndefined();
  });

  const cases: readonly [string, ToolsRequest, Partial<GenerationRequest>, string][] = [
    ['no tool', { definitions: [] }, {}, 'tools.definitions'],
    ['an empty name', { definitions: [tool({ name: '' })] }, {}, 'tools.definitions[0].name'],
    ['a quote in a name', { definitions: [tool(), tool({ name: 'a"' })] }, {}, 'tools.definitions[1].name'],
    ['a long name', { definitions: [tool({ name: 'a'.repeat(129) })] }, {}, 'tools.definitions[0].name'],
    ['a name twice', { definitions: [tool(), tool()] }, {}, 'tools.definitions[1].name'],
    [
      'arguments that are a list',
      { definitions: [tool({ parameters: { type: 'array' } })] },
      {},
      'tools.definitions[0].parameters',
    ],
    [
      'a schema that is a list',
      { definitions: [tool({ parameters: [] as never })] },
      {},
      'tools.definitions[0].parameters',
    ],
    ['an unknown choice', { definitions: [tool()], choice: 'none' as never }, {}, 'tools.choice'],
    ['an unknown tool', { definitions: [tool()], choice: { name: 'other' } }, {}, 'tools.choice.name'],
    ['a prompt of text', { definitions: [tool()] }, { prompt: 'Hi' }, 'tools'],
    ['a prompt of tokens', { definitions: [tool()] }, { prompt: { tokenIds: [1] } }, 'tools'],
    ['a beam search', { definitions: [tool()] }, { beamSearch: { width: 2, lengthPenalty: 1 } }, 'tools'],
    [
      'tools of the template',
      { definitions: [tool()] },
      { prompt: { ...prompt, template: { tools: [] } } },
      'prompt.template.tools',
    ],
  ];
  it.each(cases)('refuses %s', (_, tools, others, parameter) => {
    expect(() => validate(tools, others)).toThrow(
      expect.objectContaining({ code: 'invalid_request', parameter }),
    );
  });
});
