// One message of a chat request. Every kind (developer, system, user, assistant, tool, function, custom) has the same
// shape on the wire, so there is one schema; the few rules that depend on the role stand at its end.

import { z } from 'zod';
import { jsonObject } from './bounded-collections.ts';
import { reportRule } from './lax-primitives.ts';

const textPart = z.object({
  type: z.literal('text'),
  text: z.string().describe('The text.'),
});

/** Parts that hold text under other names, as newer clients send them. */
const inputTextPart = z.object({ type: z.literal('input_text'), text: z.string().describe('The text.') });
const outputTextPart = z.object({ type: z.literal('output_text'), text: z.string().describe('The text.') });
const refusalPart = z.object({
  type: z.literal('refusal'),
  refusal: z.string().describe('Text in which the assistant declined.'),
});
const thinkingPart = z.object({
  type: z.literal('thinking'),
  thinking: z.string().describe('Text that the assistant thought.'),
});

const mediaUrl = z.object({ url: z.string().describe('Address or data URL of the medium.') });
const imagePart = z.object({ type: z.literal('image_url'), image_url: mediaUrl });
const audioUrlPart = z.object({ type: z.literal('audio_url'), audio_url: mediaUrl });
const videoUrlPart = z.object({ type: z.literal('video_url'), video_url: mediaUrl });
const inputAudioPart = z.object({
  type: z.literal('input_audio'),
  input_audio: z.object({
    data: z.string().describe('The sound, base64 encoded.'),
    format: z.string().describe('Its format, such as `wav`.'),
  }),
});
const filePart = z.object({
  type: z.literal('file'),
  file: jsonObject().describe('The file, as its id or its data.'),
});

/** One part of a message's content. Only text can be used by text models; other media are refused later. */
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
  .describe('A part of the content. Text models take text parts only.');
export type ChatContentPart = z.output<typeof chatContentPart>;

/** A call that the assistant made in an earlier turn. */
export const chatMessageToolCall = z.object({
  id: z.string().describe('Id that the answering tool message repeats.'),
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
        'The text, or a list of parts. Left out it counts as empty. Only assistant messages, and function messages ' +
          'with a name, may say null.',
      ),
    role: z
      .string()
      .describe(
        'Who speaks: developer, system, user, assistant, tool, function, or any role the chat template knows. ' +
          'Developer messages take the place of system messages for newer model families.',
      ),
    name: z.string().optional().describe('Name of the speaker or of the function.'),
    tool_calls: z
      .array(chatMessageToolCall)
      .nullish()
      .describe('Calls that this assistant message made. An empty list means none.'),
    tool_call_id: z.string().nullish().describe('The call that this tool message answers.'),
    reasoning: z.string().nullish().describe('What the assistant thought before it answered.'),
    reasoning_content: z.string().nullish().describe('Older name of `reasoning`.'),
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
