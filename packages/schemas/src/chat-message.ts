// One message of a chat request. All roles (developer, system, user, assistant, tool, function, custom) share one schema,
// because they have the same shape on the wire; the few rules that depend on the role are at its end.

import { z } from 'zod';
import { jsonObject } from './bounded-collections.ts';
import { reportRule } from './lax-primitives.ts';

const textPart = z.object({
  type: z.literal('text'),
  text: z.string().describe('The text.'),
});

/** Text parts under the names that newer clients use. */
const inputTextPart = z.object({ type: z.literal('input_text'), text: z.string().describe('The text.') });
const outputTextPart = z.object({ type: z.literal('output_text'), text: z.string().describe('The text.') });
const refusalPart = z.object({
  type: z.literal('refusal'),
  refusal: z.string().describe('Refusal of the assistant.'),
});
const thinkingPart = z.object({
  type: z.literal('thinking'),
  thinking: z.string().describe('Reasoning text of the assistant.'),
});

const mediaUrl = z.object({ url: z.string().describe('URL or data URL of the media.') });
const imagePart = z.object({ type: z.literal('image_url'), image_url: mediaUrl });
const audioUrlPart = z.object({ type: z.literal('audio_url'), audio_url: mediaUrl });
const videoUrlPart = z.object({ type: z.literal('video_url'), video_url: mediaUrl });
const inputAudioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({
    data: z.string().describe('The audio, base64 encoded.'),
    format: z.string().describe('Audio format, such as `wav`.'),
  }),
});
const filePart = z.object({
  type: z.literal('file'),
  file: jsonObject().describe('The file, by id or by data.'),
});

/** One part of a message's content. Text models take text only; the api refuses other media. */
export const chatContentPart = z
  .discriminatedUnion('type', [
    textPart,
    inputTextPart,
    outputTextPart,
    refusalPart,
    thinkingPart,
    imagePart,
    audioUrlPart,
    videoUrlPart,
    inputAudioPart,
    filePart,
  ])
  .describe('A part of the content. Text models accept text parts only.');
export type ChatContentPart = z.output<typeof chatContentPart>;

/** A call that the assistant made in an earlier turn. */
export const chatMessageToolCall = z.object({
  id: z.string().describe('Id of the call, which the tool message with its result repeats.'),
  type: z.literal('function').describe('Kind of tool; only functions exist.'),
  function: z
    .object({
      name: z.string().describe('Name of the function that was called.'),
      arguments: z.string().describe('Its arguments as JSON text.'),
    })
    .describe('The function call.'),
});
export type ChatMessageToolCall = z.output<typeof chatMessageToolCall>;

/** One message. Keys that are not listed are dropped. */
export const chatMessage = z
  .object({
    content: z
      .union([z.string(), z.array(z.union([z.string(), chatContentPart]))])
      .nullish()
      .describe(
        'The text, or a list of parts. Default: empty. Null is allowed for assistant messages and for function messages ' +
          'with a name.',
      ),
    role: z
      .string()
      .describe(
        'Role: developer, system, user, assistant, tool, function, or any role that the chat template knows. ' +
          'Newer model families use developer messages instead of system messages.',
      ),
    name: z.string().optional().describe('Name of the author or of the function.'),
    tool_calls: z
      .array(chatMessageToolCall)
      .nullish()
      .describe('Tool calls of this assistant message. An empty list means none.'),
    tool_call_id: z.string().nullish().describe('Id of the call that this tool message answers.'),
    reasoning: z.string().nullish().describe('Reasoning text of this assistant message.'),
    reasoning_content: z.string().nullish().describe('Alias of `reasoning`.'),
  })
  .check(context => {
    const { content, role, name } = context.value;
    if (content !== null || role === 'assistant' || (role === 'function' && name !== undefined)) return;
    reportRule(context, 'content', `Content of a message with the role '${role}' must not be null`);
  })
  .describe('One message of the conversation.');
export type ChatMessage = z.output<typeof chatMessage>;

export const chatMessageExamples = {
  valid: [
    { role: 'developer', content: 'Answer in one word.' },
    { role: 'system', content: 'Answer in one word.' },
    { role: 'user', content: 'What is the capital of France?', name: 'ada' },
    { role: 'user', content: [{ type: 'text', text: 'What is the capital of France?' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
      ],
    },
    { role: 'tool', content: '18 degrees', tool_call_id: 'call_1' },
    { role: 'function', content: null, name: 'weather' },
    { role: 'narrator', content: 'It is night.' },
  ],
  invalid: [
    { input: {}, type: 'missing', loc: ['role'] },
    { input: { role: 5, content: 'x' }, type: 'string_type', loc: ['role'] },
    { input: { role: 'user', content: null }, type: 'value_error', loc: ['content'] },
    { input: { role: 'user', content: [{ type: 'text' }] }, type: 'missing', loc: ['content', '0', 'text'] },
    { input: { role: 'user', content: 'x', name: null }, type: 'string_type', loc: ['name'] },
  ],
} as const;
