// The cost of HTTP and server-sent events: streams of our server, started as its operators start it, against the engine
// alone in the process that reads them. Both take turns with the same work; the CPU time of the server's own
// process, besides that of its model, is told apart.

import { parseArgs } from 'node:util';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { ContestantProcess } from '../peers/contestant-process.ts';
import { peerModel, SHAPE_NAMES, vocabSizeOf } from '../peers/peer-models.ts';
import { sharedThroughput } from '../peers/workloads.ts';
import { rounded } from '../rounded.ts';

const HELP = `Options:
  --shape NAME    ${SHAPE_NAMES.join(' or ')} (default ${SHAPE_NAMES[0]})
  --streams N     streams at once (default 16)
  --tokens N      tokens of each (default 128)
  --turns N       turns of each (default 5)
  --threads N     threads of a model call (default 2)`;

const PROMPT_LENGTH = 64;

const { values } = parseArgs({
  options: {
    shape: { type: 'string', default: SHAPE_NAMES[0]! },
    streams: { type: 'string', default: '16' },
    tokens: { type: 'string', default: '128' },
    turns: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(HELP);
else
  console.log(
    JSON.stringify({ bench: 'streams-over-http', ...(await measure()), ...describeMachine() }, null, 2),
  );

async function measure() {
  const shape = SHAPE_NAMES.find(name => name === values.shape);
  if (shape === undefined) throw new Error(`--shape is ${SHAPE_NAMES.join(' or ')}; got "${values.shape}".`);
  const [streamCount, outputLength] = [Number(values.streams), Number(values.tokens)];
  const modelPath = await peerModel(shape, 'q4', 'ortler');
  const vocabSize = vocabSizeOf(shape, 'q4');
  const threadCount = Number(values.threads);
  const options = { modelPath, threadCount, maxStreams: streamCount, contextLength: 4608 };
  const engine = await ContestantProcess.start('ortler', options);
  const server = await ContestantProcess.start('ortler-server', options);
  const turns: { engine: number; server: number; serverMsPerToken: number; modelMsPerToken: number }[] = [];
  let state = 1;
  const drawPrompt = (): number[] =>
    Array.from({ length: PROMPT_LENGTH }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return 256 + ((state >>> 8) % (vocabSize - 256));
    });
  // The first turn only warms up.
  for (let turn = -1; turn < Number(values.turns); turn++) {
    const work = { prompts: Array.from({ length: streamCount }, drawPrompt), outputLength };
    const alone = await engine.run(work);
    const before = await server.usage();
    const served = await server.run(work);
    const after = await server.usage();
    const tokenCount = streamCount * outputLength;
    const perToken = (index: number): number =>
      (after[index]!.processorMs - before[index]!.processorMs) / tokenCount;
    const result = {
      engine: rounded(sharedThroughput(alone)),
      server: rounded(sharedThroughput(served)),
      serverMsPerToken: rounded(perToken(0)),
      modelMsPerToken: rounded(perToken(1)),
    };
    console.error(JSON.stringify(result));
    if (alone.tokenIds.join() !== served.tokenIds.join())
      console.error('The tokens differ: batches that are composed otherwise round otherwise.');
    if (turn >= 0) turns.push(result);
  }
  engine.close();
  server.close();
  return {
    shape,
    streamCount,
    outputLength,
    threadCount,
    engine: { version: engine.version, tokensPerSecond: median(turns.map(turn => turn.engine)) },
    server: {
      tokensPerSecond: median(turns.map(turn => turn.server)),
      serverMsPerToken: median(turns.map(turn => turn.serverMsPerToken)),
      modelMsPerToken: median(turns.map(turn => turn.modelMsPerToken)),
    },
    lostShare: rounded(1 - median(turns.map(turn => turn.server / turn.engine))),
    turns,
  };
}
