// Asks a running server the held-out prompts over POST /v1/chat/completions and prints the accuracy of every skill.
// Needs Node 20 or newer and nothing else. `node evaluate.mjs --help` lists the options.

import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const HELP = `node evaluate.mjs [options]
  --base-url URL      server, without /v1             (default http://127.0.0.1:8000)
  --api-key KEY       bearer key                      (default $ORTLER_API_KEY, else "demo")
  --model ID          model id                        (default: the first of GET /v1/models)
  --file PATH         held-out prompts                (default heldout.jsonl beside this file)
  --concurrency N     requests at the same time       (default 8)
  --limit N           ask only every k-th prompt, N in all
  --minimum SHARE     exit with 1 below this accuracy, e.g. 0.9
  --show-wrong        print every wrong answer`;

const ANSWER_TOKEN_LIMIT = 256;
const PROGRESS_WIDTH = 30;

/** The answer without its thinking part, however the server returns that. */
function answerOf(body) {
  const content = body.choices[0]?.message?.content ?? '';
  return content.split('</think>').at(-1).trim();
}

/** Whether an answer counts as right. `json` compares parsed values, the order of keys included. */
function isRight(record, answer) {
  if (record.match === 'contains') return answer.includes(record.expected);
  if (record.match === 'exact') return answer === record.expected;
  try {
    return JSON.stringify(JSON.parse(answer)) === JSON.stringify(JSON.parse(record.expected));
  } catch {
    return false;
  }
}

async function callServer(url, apiKey, body) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string', default: 'http://127.0.0.1:8000' },
      'api-key': { type: 'string', default: process.env.ORTLER_API_KEY ?? 'demo' },
      model: { type: 'string' },
      file: { type: 'string' },
      concurrency: { type: 'string', default: '8' },
      limit: { type: 'string' },
      minimum: { type: 'string', default: '0' },
      'show-wrong': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  return values;
}

async function readRecords(options) {
  const path = options.file ?? new URL('heldout.jsonl', import.meta.url);
  const records = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const wanted = Math.min(Number(options.limit ?? records.length), records.length);
  return Array.from({ length: wanted }, (_, index) => records[Math.floor((index * records.length) / wanted)]);
}

function showProgress(done, total, right, startedMs) {
  if (!process.stderr.isTTY && done !== total && done % 100 !== 0) return;
  const filled = Math.round((done / total) * PROGRESS_WIDTH);
  const bar = '█'.repeat(filled) + '░'.repeat(PROGRESS_WIDTH - filled);
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(0);
  const line = `${bar} ${done}/${total}  right ${((100 * right) / done).toFixed(1)} %  ${seconds} s`;
  process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`);
}

const options = readOptions();
const records = await readRecords(options);
const model =
  options.model ?? (await callServer(`${options['base-url']}/v1/models`, options['api-key'])).data[0].id;
const skills = new Map();
const wrong = [];
const startedMs = Date.now();
let next = 0;
let done = 0;
let right = 0;

async function askUntilDone() {
  while (next < records.length) {
    const record = records[next++];
    const body = {
      model,
      messages: record.messages,
      temperature: 0,
      max_completion_tokens: ANSWER_TOKEN_LIMIT,
      ...(record.documents === undefined ? {} : { documents: record.documents }),
      ...(record.chat_template_kwargs === undefined
        ? {}
        : { chat_template_kwargs: record.chat_template_kwargs }),
    };
    const answer = answerOf(
      await callServer(`${options['base-url']}/v1/chat/completions`, options['api-key'], body),
    );
    const tally = skills.get(record.skill) ?? { right: 0, total: 0 };
    skills.set(record.skill, tally);
    tally.total++;
    done++;
    if (isRight(record, answer)) {
      tally.right++;
      right++;
    } else {
      wrong.push({
        skill: record.skill,
        asked: record.messages.at(-1).content,
        expected: record.expected,
        answer,
      });
    }
    showProgress(done, records.length, right, startedMs);
  }
}

await Promise.all(Array.from({ length: Math.max(1, Number(options.concurrency)) }, askUntilDone));
if (process.stderr.isTTY) process.stderr.write('\n');

for (const [skill, tally] of [...skills].sort(([a], [b]) => a.localeCompare(b))) {
  console.log(
    `${skill.padEnd(14)} ${String(tally.right).padStart(4)} of ${String(tally.total).padStart(4)}  ${(tally.right / tally.total).toFixed(3)}`,
  );
}
console.log(
  `${'all'.padEnd(14)} ${String(right).padStart(4)} of ${String(records.length).padStart(4)}  ${(right / records.length).toFixed(3)}   model ${model}`,
);
if (options['show-wrong']) for (const entry of wrong) console.log(JSON.stringify(entry));
if (right / records.length < Number(options.minimum)) {
  console.error(`accuracy is below the minimum of ${options.minimum}`);
  process.exitCode = 1;
}
