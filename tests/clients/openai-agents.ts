// A program of OpenAI's Agents SDK: one agent with a tool, on responses and on chat completions, whole and streamed.
// Run: OPENAI_BASE_URL=... OPENAI_API_KEY=... node tests/clients/openai-agents.ts MODEL

import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

const [model = 'agent'] = process.argv.slice(2);
const asked: string[] = [];
const agent = new Agent({
  name: 'weather',
  instructions: 'You know the weather.',
  model,
  tools: [
    tool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        asked.push(city);
        return 'sunny';
      },
    }),
  ],
});

setTracingDisabled(true);
const answers: Record<string, unknown> = {};
for (const api of ['responses', 'chat_completions'] as const) {
  setOpenAIAPI(api);
  const { finalOutput } = await run(agent, 'How is the weather in Rome?');
  const stream = await run(agent, 'How is the weather in Rome?', { stream: true });
  await stream.completed;
  answers[api] = [finalOutput, stream.finalOutput];
}
process.stdout.write(JSON.stringify({ answers, asked }));
