// A server whose models run on a GPU: what it says of the device, and what becomes of requests when the driver takes the
// model's process down in the middle of a step.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { whyNoWebGpu } from '@ortler/onnxruntime/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

const reason = await whyNoWebGpu();

const messages = [{ role: 'user', content: 'Hello!' }];

describe.skipIf(reason !== undefined)(`a server on a GPU, ${reason ?? 'here'}`, () => {
  let folder: string;
  let server: RunningServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-gpu-'));
    await createTinyCheckpoint(folder);
    server = await startServer({ arguments: ['--models', `tiny=${folder}`, '--device', 'webgpu'] });
  });
  afterAll(async () => {
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const post = (body: object): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages, ...body }),
    });
  const answer = async (body: object): Promise<unknown> => {
    const reply = await post(body);
    expect(reply.status).toBe(200);
    return ((await reply.json()) as { choices: unknown }).choices;
  };
  const health = async () =>
    (await (await fetch(`${server.url}/health`)).json()) as {
      device: { kind: string; name: string; memory_bytes: number };
      models: { state: string; detail?: string }[];
    };

  it('says in /health and at its start what the models run on', async () => {
    const { device, models } = await health();
    expect(device).toMatchObject({ kind: 'webgpu', name: expect.any(String) });
    expect(models).toMatchObject([{ state: 'ready' }]);
    expect(server.output()).toContain(`webgpu: ${device.name}`);
  });

  it('follows constraints and reports log probabilities, and reads less than 4 KB a token for it', async () => {
    const body = { max_tokens: 16, temperature: 1, logprobs: true, top_logprobs: 20 };
    const choices = await answer({ ...body, structured_outputs: { choice: ['yes', 'no'] }, n: 4 });
    for (const { message } of choices as { message: { content: string } }[])
      expect(['yes', 'no']).toContain(message.content);
    await answer({ ...body, frequency_penalty: 0.5, repetition_penalty: 1.2 });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const metricOf = (name: string): number =>
      Number(new RegExp(`^ortler:device_${name}_total\\{.*\\} (.+)$`, 'm').exec(metrics)![1]);
    expect(metricOf('sampled_rows')).toBeGreaterThan(4);
    expect(metricOf('fetched_rows')).toBe(0);
    expect(metricOf('read_bytes') / metricOf('sampled_rows')).toBeLessThan(4_096);
  });

  it('fails the open requests of a process that a driver took down, and answers as before when it is back', async () => {
    // A partition of its own: nothing of the prompt is computed yet, either time.
    const body = { seed: 3, temperature: 1, max_tokens: 12, logprobs: true, cache_salt: 'once' };
    const before = await answer(body);
    const stream = await post({ stream: true, ignore_eos: true, max_tokens: 450, n: 4 });
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    await reader.read();
    const [pid] = server.modelPids();
    process.kill(pid!, 'SIGSEGV');

    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toContain('"error"');
    await vi.waitFor(async () => expect((await health()).models).toMatchObject([{ state: 'ready' }]), {
      timeout: 100_000,
      interval: 100,
    });
    expect(server.modelPids()).not.toContain(pid);
    expect(await answer(body)).toEqual(before);
  });
});
