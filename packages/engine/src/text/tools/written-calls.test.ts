import { NAMED_DIALECTS } from '@ortler/tool-calling';
import { expect, it } from 'vitest';
import { writePastCalls } from './written-calls.ts';

it('past calls become the text that the model wrote, results stay', () => {
  const tool_calls = ['a', 'b'].map(zone => ({ id: zone, function: { name: 'clock', arguments: { zone } } }));
  const result = { role: 'tool', tool_call_id: 'a', content: 'noon' };
  const { dialect } = NAMED_DIALECTS.lfm2;
  const written = '<|tool_call_start|>[clock(zone="a"), clock(zone="b")]<|tool_call_end|>';
  expect(
    writePastCalls(
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '', tool_calls },
        result,
        { role: 'assistant', content: 'I look.', reasoning_content: 'Hm', tool_calls },
        { role: 'assistant', content: [{ type: 'text', text: 'So' }], tool_calls },
      ],
      dialect,
    ),
  ).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: written },
    result,
    { role: 'assistant', content: `I look.\n${written}`, reasoning_content: 'Hm' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'So' },
        { type: 'text', text: written },
      ],
    },
  ]);
});
