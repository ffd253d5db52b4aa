// How fast /health answers while the model generates: the server as its users run it, every sequence slot busy with
// a long answer, one probe after another. A probe counts only if the answers were still running when it returned.

import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { quantile } from '../quantile.ts';
import { rounded } from '../rounded.ts';
import { API_KEY, startServer } from '../start-server.ts';

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '900' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log('npm run bench -- health-under-load [--answers 8] [--tokens 900]');
} else {
  console.log(JSON.stringify(await measure(Number(values.answers), Number(values.tokens)), null, 2));
}

async function measure(answerCount: number, tokenCount: number) {
  const { url, stop } = await startServer();
  try {
    let openCount = answerCount;
    const answers = Array.from({ length: answerCount }, async () => {
      const answer = await ask(url, tokenCount);
      openCount -= 1;
      return answer;
    });
    const idle = openCount;
    const probes: number[] = [];
    while (openCount === idle) {
      const start = performance.now();
      const response = await fetch(`${url}/health`);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`/health said ${response.status}.`);
      if (openCount === idle) probes.push(performance.now() - start);
      await new Promise(done => setTimeout(done, 5));
    }
    const lengths = await Promise.all(answers);
    if (lengths.some(length => length !== tokenCount)) throw new Error(`Answers of ${lengths} tokens.`);
    return { answerCount, tokenCount, ...summary(probes), machine: describeMachine() };
  } finally {
    await stop();
  }
}

/** Asks for exactly `tokenCount` tokens and gives how many came. */
async function ask(url: string, tokenCount: number): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Tell me about Ortler.' }],
      max_completion_tokens: tokenCount,
      ignore_eos: true,
    }),
  });
  const body = (await response.json()) as { usage: { completion_tokens: number } };
  return body.usage.completion_tokens;
}

function summary(times: readonly number[]) {
  const at = (share: number) => rounded(quantile(times, share));
  return { probeCount: times.length, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}
