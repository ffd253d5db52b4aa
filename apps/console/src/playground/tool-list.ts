// The functions that the playground offers to the model, as JSON. Pure.

export interface ReadTools {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

/** An example to begin with. */
export const EXAMPLE_TOOLS = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'Weather of a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ],
  null,
  2,
);

/** The fields of a chat with these tools. What is inside each of them, the server checks. */
export function readTools(text: string): ReadTools {
  if (text.trim() === '') return { fields: {} };
  try {
    const tools: unknown = JSON.parse(text);
    if (Array.isArray(tools) && tools.length > 0) return { fields: { tools, tool_choice: 'auto' } };
    return { fields: {}, fault: 'Tools are a list of functions.' };
  } catch (error) {
    return {
      fields: {},
      fault: `Tools are not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
