// The command line as a person uses it: answers on standard output, mistakes as one message without a stack.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTinyCheckpoint, writeAdapter } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ORTLER } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let folder: string;
let shared: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-cli-'));
  await createTinyCheckpoint(join(folder, 'tiny'));
  shared = ['--models', `tiny=${join(folder, 'tiny')}`, '--data-dir', join(folder, 'data')];
});
afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function ortler(
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: Record<string, string> } = {},
): Promise<Outcome> {
  const settings = Object.entries(process.env).filter(([name]) => !name.startsWith('ORTLER_'));
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [...ORTLER, ...args],
      { env: { ...Object.fromEntries(settings), ...env }, cwd: folder },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end(input);
  });
}

/** A device of Linux on which no write succeeds. */
const FULL_DISK = '/dev/full';
const hasNoFullDisk = !existsSync(FULL_DISK);
const NO_STACK = /^\s+at /m;

it('explains itself', async () => {
  const help = await ortler(['serve', '--help']);
  expect(help.code).toBe(0);
  for (const word of ['--port <number>', 'ORTLER_MODELS', '--body-limit <size>', 'Examples:'])
    expect(help.out).toContain(word);
  // The key of a chat is for the server that is asked, not for one that is started.
  const chat = await ortler(['chat', '--help']);
  expect(chat.out).toMatch(/--api-key <key>\s+key for the server of --url/);
});

it.each([
  [['serv'], 'ortler', '(Did you mean serve?)'],
  [['serve', '--prot', '1'], 'ortler serve', '(Did you mean --port?)'],
  [['keys', 'lst'], 'ortler keys', '(Did you mean list?)'],
  [['keys', 'remove'], 'ortler keys remove', "missing required argument 'id'"],
])('names the help of the command in which a mistake is: %j', async (args, command, words) => {
  const { code, out, err } = await ortler(args);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(words);
  expect(err).toContain(`Run \`${command} --help\` for `);
});

describe('ortler chat', () => {
  const settings = ['--temperature', '0', '--max-tokens', '6'];

  it('answers one question, the same every time at temperature 0', async () => {
    const first = await ortler(['chat', 'Hello!', ...shared, ...settings]);
    const second = await ortler(['chat', 'Hello!', ...shared, ...settings]);
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^.+\n$/s);
    expect(second).toEqual({ code: 0, out: first.out, err: '' });
  });

  it('talks until its input ends, and goes on after a question that is refused', async () => {
    const one = await ortler(['chat', 'Hello!', ...shared, ...settings]);
    const talk = await ortler(['chat', ...shared, ...settings], { input: `${'x'.repeat(5_000)}\nHello!\n` });
    expect(talk.code).toBe(0);
    expect(talk.err).toContain('maximum context length is 512 tokens');
    expect(talk.out).toBe(one.out);
  });

  it.each([
    [['--model', '/no/such/folder'], 'cannot be used: /no/such/folder'],
    [['--model', 'llama3'], '"llama3" is not a name on the Hub. Names are org/model,'],
    [['--temperature', '9'], '--temperature must be 0 to 2; got 9.'],
    [['--temperature', 'hot'], 'It must be a number.'],
    [['--max-tokens', '100000'], '--max-tokens must be a whole number from 1 to 512; got 100000.'],
    [['--url', 'nowhere'], '--url must be an address'],
    [['--url', 'http://127.0.0.1:8000'], 'set ORTLER_API_KEY'],
    [['--url', 'http://127.0.0.1:8000', '--precision', 'q4'], '--precision has no effect with --url'],
    [['--api-key', 'a'], '--api-key is the key of a server: give its address with --url.'],
  ])('explains the mistake in %j', async (args, message) => {
    const own = args[0] === '--url' ? [] : shared;
    const { code, err, out } = await ortler(['chat', 'Hello!', ...own, ...args]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(err).not.toMatch(NO_STACK);
  });

  it('asks a running server, and says when that rejects the key', async () => {
    const server = await startTinyServer();
    try {
      const chat = ['chat', 'Hello!', '--url', server.url, ...settings];
      const answer = await ortler([...chat, '--api-key', server.apiKey]);
      expect(answer).toMatchObject({ code: 0, err: '' });
      expect(answer.out).not.toBe('');
      const refused = await ortler(chat, { env: { ORTLER_API_KEY: 'wrong' } });
      expect(refused).toEqual({
        code: 1,
        out: '',
        err: 'The server rejects the key of ORTLER_API_KEY or --api-key.\n',
      });
    } finally {
      await server.dispose();
    }
  });

  it('ends quietly when nobody reads its answer', async () => {
    const args = [...ORTLER, 'chat', 'Hello!', ...shared, ...settings];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let err = '';
    child.stderr.on('data', text => {
      err += String(text);
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(err).not.toMatch(NO_STACK);
  });

  it.skipIf(hasNoFullDisk)('says that its answer cannot be written, as on a full disk', async () => {
    const full = openSync(FULL_DISK, 'w');
    const args = [...ORTLER, 'chat', 'Hello!', ...shared, ...settings];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', full, 'pipe'] });
    let err = '';
    child.stderr!.on('data', text => {
      err += String(text);
    });
    const [code] = await once(child, 'close');
    closeSync(full);
    expect([code, err]).toEqual([1, expect.stringMatching(/^The output cannot be written: ENOSPC.*\n$/)]);
  });
});

describe('ortler build', () => {
  it('makes a folder that chat can use, and never overwrites one', async () => {
    const output = join(folder, 'built');
    const build = ['build', join(folder, 'tiny'), '--output', output, '--precision', 'q8'];
    const first = await ortler(build);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining(`Built ${output}`) });
    expect(await readdir(output)).toContain('ortler-model.json');
    const answer = await ortler(['chat', 'Hello!', '--model', output, ...shared, '--max-tokens', '2']);
    expect(answer.code).toBe(0);
    const second = await ortler(build);
    expect(second.code).toBe(1);
    expect(second.err).toContain('exists already');
    expect(second.err).not.toMatch(NO_STACK);
  });
});

describe('ortler build --kv-cache', () => {
  it('makes a folder with a cache of 8 bits that chat can use, and says so', async () => {
    const output = join(folder, 'built-int8');
    const build = ['build', join(folder, 'tiny'), '--kv-cache', 'int8'];
    const built = await ortler([...build, '--precision', 'q4', '--output', output]);
    expect(built).toMatchObject({ code: 0, out: expect.stringContaining('q4, int8 cache') });
    const chat = ['chat', 'Hello!', ...shared, '--max-tokens', '2', '--model'];
    expect((await ortler([...chat, output])).code).toBe(0);
    const other = await ortler([...chat, output, '--kv-cache', 'f32']);
    expect(other.code).toBe(1);
    expect(other.err).toContain('is built already, with a cache in int8');
    const refused = await ortler([...build, '--device', 'gpu', '--output', join(folder, 'refused')]);
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining('a "paged" graph has no int8 cache; it has float16'),
    });
  });
});

describe('ortler build --adapter', () => {
  it('merges the adapter, and names the file of one that does not fit', async () => {
    const width = 64;
    const pair = (layer: number) =>
      ['A', 'B'].map(part => ({
        name: `base_model.model.model.layers.${layer}.mlp.gate_proj.lora_${part}.weight`,
        shape: part === 'A' ? [1, width] : [2 * width, 1],
        fill: (target: Float32Array) => void target.fill(0.5),
      }));
    const config = { r: 1, lora_alpha: 1, target_modules: ['gate_proj'] };
    await writeAdapter(join(folder, 'adapter'), config, pair(0));
    await writeAdapter(join(folder, 'misfit'), config, pair(9));
    const build = (adapter: string) =>
      ortler(['build', join(folder, 'tiny'), '--adapter', join(folder, adapter), '--precision', 'q8']);
    const output = join(folder, 'tiny-adapter-q8');
    expect(await build('adapter')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`Built ${output}`),
    });
    const misfit = await build('misfit');
    expect(misfit.code).toBe(1);
    expect(misfit.err).toContain(join(folder, 'misfit', 'adapter_model.safetensors'));
    expect(misfit.err).not.toMatch(NO_STACK);
    expect((await build('absent')).err).toContain('absent is not a folder.');
    expect((await ortler(['build', join(folder, 'none')])).err).toContain('none does not exist.');
    expect((await ortler(['build', 'none'])).err).toContain('"none" is not a name on the Hub.');
    const noHalves = await ortler(['inspect', join(folder, 'tiny'), '--device', 'cpu', '--precision', 'f16']);
    expect(noHalves.out).toMatch(
      /it has no such precision on the device: a "\w+" graph has no precision f16/,
    );
    expect((await ortler(['inspect', 'none'])).err).toContain('"none" is not a name on the Hub.');
  });

  it('names the flag that gives a model its missing chat template', async () => {
    const plain = join(folder, 'plain');
    await createTinyCheckpoint(plain);
    await rm(join(plain, 'chat_template.jinja'), { force: true });
    const configFile = join(plain, 'tokenizer_config.json');
    const config = JSON.parse(await readFile(configFile, 'utf8')) as Record<string, unknown>;
    delete config.chat_template;
    await writeFile(configFile, JSON.stringify(config));
    const { code, err } = await ortler(['chat', plain, 'Hello!', '--data-dir', join(folder, 'data')]);
    expect(code).toBe(1);
    expect(err).toContain('has no chat template, which chat messages need:');
    expect(err).toContain('The flag is --chat-template FILE.');
  });

  it.each([
    [['--temperature', '9'], '--temperature must be 0 to 2; got 9.'],
    [['--max-tokens', '0'], 'It must be a whole number above 0.'],
  ])('chats with no model before its flags are right: %j', async (flags, message) => {
    const { code, err } = await ortler(['chat', 'acme/no-such-model', 'Hello!', '--offline', ...flags]);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });

  it('names what is wrong besides the model before it looks for the model', async () => {
    const build = async (...args: readonly string[]) =>
      (await ortler(['build', 'acme/no-such-model', '--offline', ...args])).err;
    expect(await build('--output', folder)).toContain(`${folder} exists already; a build makes`);
    expect(await build('--report', '--device', 'gpu')).toContain('leave out --device gpu');
    expect(await build('--report', join(folder, 'none.txt'))).toContain('none.txt');
    expect(await build('--adapter', join(folder, 'none'))).toContain('none is not a folder');
    expect(await build('--adapter', folder)).toContain('adapter_config.json does not exist');
  });

  it('refuses to build a folder that is built already', async () => {
    const built = join(folder, 'already');
    await mkdir(built);
    await writeFile(join(built, 'ortler-model.json'), '{}');
    expect((await ortler(['build', built])).err).toContain(`${built} is built already`);
  });
});

describe('ortler serve', () => {
  it('lists every mistake of the configuration at once', async () => {
    const { code, err } = await ortler(['serve', '--port', 'x'], {
      env: { ORTLER_PROT: '1', ORTLER_DEVICE: 'tpu' },
    });
    expect(code).toBe(1);
    expect(err).toBe(
      'The configuration has 3 mistakes:\n' +
        '  - ORTLER_PROT is not a setting. Did you mean ORTLER_PORT?\n' +
        '  - --port must be a whole number from 0 to 65535 (got "x").\n' +
        '  - ORTLER_DEVICE must be one of auto, cpu, webgpu, cuda (got "tpu").\n',
    );
  });

  it('says when its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, err } = await ortler(['serve', '--port', String(port), ...shared]);
    const metrics = await ortler(['serve', '--port', '0', '--metrics-port', String(port), ...shared]);
    other.close();
    expect([code, metrics.code]).toEqual([1, 1]);
    const message = (flag: string) =>
      `Port ${port} of 127.0.0.1 is in use. Stop what listens there, or choose another with ${flag}.\n`;
    expect(err).toBe(message('--port'));
    expect(metrics.err).toBe(message('--metrics-port'));
  });

  it('says which file of certificates it cannot use', async () => {
    const traced = ['serve', ...shared, '--port', '0', '--otlp-traces-endpoint', 'https://localhost:4318'];
    const missing = await ortler([...traced, '--otlp-certificate', join(folder, 'missing.pem')]);
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(/OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read: ENOENT/);
    const other = await ortler([...traced, '--otlp-certificate', join(folder, 'tiny', 'config.json')]);
    expect(other.err).toMatch(/OTEL_EXPORTER_OTLP_CERTIFICATE names .* which is not a PEM file\./);
    expect(missing.err + other.err).not.toMatch(NO_STACK);
  });

  it('says when its data folder cannot be used', async () => {
    const dataDir = join(folder, 'tiny', 'config.json');
    const { code, err } = await ortler(['serve', ...shared, '--port', '0', '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(err).toMatch(`The data folder ${dataDir} cannot be used: `);
    expect(err).toMatch(/\nChoose another with --data-dir\.\n$/);
    expect(err).not.toMatch(NO_STACK);
  });
});

it('writes to people on one stream and logs on the other, without the values of a query', async () => {
  const settings = ['--data-dir', join(folder, 'logged'), '--log-level', 'info', '--api-key', 'a-key'];
  const args = [...ORTLER, 'serve', '--port', '0', ...shared, ...settings];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let [told, logged] = ['', ''];
  server.stdout.on('data', text => (told += String(text)));
  server.stderr.on('data', text => (logged += String(text)));
  await vi.waitFor(() => expect(told).toContain('ready in'), { timeout: 60_000 });
  await fetch(`${/http:\S+:\d+/.exec(told)![0]}/v1/models?token=hidden`);
  server.kill('SIGTERM');
  await once(server, 'exit');
  expect(told).toContain('tiny: building 0%');
  // As a shell puts the variable in, which it does not between single quotes.
  expect(told).toContain('-H "Authorization: Bearer $ORTLER_API_KEY"');
  const urls = logged
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as { readonly req?: { readonly url: string } }).req?.url);
  expect(urls).toContain('/v1/models');
  expect(logged).not.toContain('hidden');
});

it('keeps serving when the reader of its output goes away', async () => {
  const server = spawn(process.execPath, [...ORTLER, 'serve', '--port', '0', ...shared], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let output = '';
    while (!/http:\S+:\d+\s/.test(output)) output += String(await once(server.stdout, 'data'));
    const [url] = /http:\S+:\d+/.exec(output)!;
    server.stdout.destroy();
    server.stderr.destroy();
    // The welcome goes on and the model announces itself, both to nobody.
    await vi.waitFor(async () => expect((await fetch(`${url}/health`)).ok).toBe(true), { timeout: 60_000 });
    expect(server.exitCode).toBeNull();
  } finally {
    if (server.kill('SIGTERM')) await once(server, 'exit');
  }
});

it.skipIf(hasNoFullDisk)('keeps serving when neither its messages nor its log can be written', async () => {
  const port = await freePort();
  const full = openSync(FULL_DISK, 'w');
  const args = ['--port', String(port), '--data-dir', join(folder, 'unlogged'), '--log-level', 'debug'];
  const server = spawn(process.execPath, [...ORTLER, 'serve', ...args], { stdio: ['ignore', full, full] });
  closeSync(full);
  try {
    const health = `http://127.0.0.1:${port}/health`;
    await vi.waitFor(async () => expect((await fetch(health)).ok).toBe(true), { timeout: 60_000 });
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
  }
});

it('hears a signal while it starts', async () => {
  // A database that never answers: the start waits for it.
  const database = createTcpServer().listen(0, '127.0.0.1');
  const connected = once(database, 'connection');
  await once(database, 'listening');
  const { port } = database.address() as AddressInfo;
  const args = ['--port', '0', '--data-dir', join(folder, 'waiting')];
  const server = spawn(process.execPath, [...ORTLER, 'serve', ...args], {
    env: { ...process.env, DATABASE_URL: `postgres://127.0.0.1:${port}/ortler` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const exited = once(server, 'exit');
    const [socket] = await connected;
    server.kill('SIGTERM');
    expect(String((await once(server.stdout, 'data'))[0])).toContain('Stopping after open requests.');
    socket.destroy();
    database.close();
    expect(await exited).toEqual([1, null]);
  } finally {
    server.kill('SIGKILL');
    database.close();
  }
});

/** Of util-linux; it runs a command on a terminal of its own. */
const hasNoTerminal = !existsSync('/usr/bin/script');

it.skipIf(hasNoTerminal)(
  'stops on a terminal while it builds, and leaves the modes of the terminal as they were',
  async () => {
    const args = ['serve', '--port', '0', '--data-dir', join(folder, 'stopped')];
    // script runs it with $SHELL, and one that stays, as dash does, ends with 130 after Ctrl-C whatever its command ends with.
    const command = `exec ${[process.execPath, ...ORTLER, ...args].map(part => `'${part}'`).join(' ')}`;
    const child = spawn('/usr/bin/script', ['-qefc', command, '/dev/null'], { cwd: folder });
    const exited = once(child, 'exit');
    let output = '';
    child.stdout.on('data', text => {
      output += String(text);
    });
    await vi.waitUntil(() => output.includes('building ['), { timeout: 60_000, interval: 5 });
    child.stdin.write('\x03');
    expect(await exited).toEqual([0, null]);
    expect(output).toContain('Stopping after open requests.');
    expect(output).not.toContain('\x1b[?');
  },
);
