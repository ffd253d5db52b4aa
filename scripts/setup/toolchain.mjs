// Finds Node 24 and pnpm: the machine's own when they fit, otherwise copies under `.tools/` from the npm registry.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PINNED_NODES, PINNED_PNPM, toLockedManifests } from './pinned-tools.mjs';
import { ROOT, runStep } from './processes.mjs';

/** As `engines` of the packages. */
const MIN_NODE = '24.15';
const PNPM_MAJORS = ['11', '12'];

const TOOLS = fileURLToPath(new URL('.tools/', ROOT));
const WINDOWS = process.platform === 'win32';

/** Says why this machine cannot run Ortler; undefined when it can. */
export function hostRefusal() {
  const host = `${process.platform}-${process.arch}`;
  const supported = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];
  if (!isHostNodeFrom('20')) {
    return `Node 20 or newer is needed to set up Ortler; this is Node ${process.versions.node}.`;
  }
  if (supported.includes(host)) {
    if (hasMusl(process.report))
      return 'ONNX Runtime has no build for Linux with musl, such as Alpine. It needs glibc, as in Debian and Ubuntu (node:24-bookworm-slim).';
    if (isHostNodeFrom(MIN_NODE) || PINNED_NODES[host] !== undefined) return undefined;
    return `Node ${MIN_NODE} or newer is needed on ${host}; this is Node ${process.versions.node}. Install it from nodejs.org.`;
  }
  return `ONNX Runtime has no build for ${host}. Supported: ${supported.join(', ')}.`;
}

/** Node names the C library that it runs on only where that is glibc. */
export function hasMusl(report, platform = process.platform) {
  if (platform !== 'linux') return false;
  // Otherwise the report has the names of all connected hosts, which Node has to ask for.
  report.excludeNetwork = true;
  return report.getReport().header.glibcVersionRuntime === undefined;
}

function isHostNodeFrom(version) {
  return process.versions.node.localeCompare(version, 'en', { numeric: true }) >= 0;
}

/** Paths of Node and pnpm, and the environment in which they find each other. */
export async function findToolchain() {
  const node = isHostNodeFrom(MIN_NODE) ? process.execPath : toolsNode();
  if (!existsSync(node)) {
    // Both in one run of npm, which takes longer to start than to fetch.
    const tools = hasPnpm(process.env) ? [pinnedNode()] : [pinnedNode(), PINNED_PNPM];
    await fetchTools(`Getting ${tools.map(toTitle).join(' and ')}`, tools);
  }
  const environment = cleanEnvironment([dirname(node)]);
  return { node, environment, pnpm: () => findPnpm(node, environment) };
}

/** Command line of pnpm. Only called when something has to be installed or built: asking its version takes time. */
async function findPnpm(node, environment) {
  if (hasPnpm(environment)) return { program: 'pnpm', args: [], environment };
  const script = join(TOOLS, 'node_modules', 'pnpm', 'bin', 'pnpm.mjs');
  if (!existsSync(script)) await fetchTools(`Getting ${toTitle(PINNED_PNPM)}`, [PINNED_PNPM]);
  // turbo looks for a `pnpm` command on the path.
  const withPnpm = cleanEnvironment([dirname(node), join(TOOLS, 'node_modules', '.bin')]);
  return { program: node, args: [script], environment: withPnpm };
}

/** Says whether this environment has a pnpm that fits. */
function hasPnpm(environment) {
  const found = spawnSync('pnpm', ['--version'], { env: environment, encoding: 'utf8', shell: WINDOWS });
  return found.status === 0 && PNPM_MAJORS.includes(found.stdout.trim().split('.')[0]);
}

function toTitle({ name, version }) {
  return `${name === PINNED_PNPM.name ? 'pnpm' : 'Node'} ${version}`;
}

function pinnedNode() {
  return PINNED_NODES[`${process.platform}-${process.arch}`];
}

function toolsNode() {
  const { name, bin } = pinnedNode();
  return join(TOOLS, 'node_modules', name, bin.node);
}

/** Installs tools beside those that are there. Fails where a tarball has another hash than the pinned one. */
async function fetchTools(title, tools) {
  const isThere = ({ name }) => existsSync(join(TOOLS, 'node_modules', name));
  const others = [pinnedNode(), PINNED_PNPM].filter(other => other !== undefined && !tools.includes(other));
  const { manifest, lock } = toLockedManifests([...others.filter(isThere), ...tools]);
  mkdirSync(TOOLS, { recursive: true });
  writeFileSync(join(TOOLS, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(TOOLS, 'package-lock.json'), JSON.stringify(lock));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['ci', '--prefix', TOOLS, ...flags];
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

/** By what the server knows that it was started by a script of the repository: `own-command.ts`. */
const SCRIPT_NAME = 'npm_lifecycle_script';

/** The caller's environment with our tools first on the path and without what else `npm run` adds for itself. */
function cleanEnvironment(folders) {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || name === SCRIPT_NAME);
  const environment = Object.fromEntries(kept);
  const pathName = Object.keys(environment).find(name => name.toUpperCase() === 'PATH') ?? 'PATH';
  environment[pathName] = [...folders, environment[pathName]].join(delimiter);
  environment.TURBO_TELEMETRY_DISABLED = '1';
  environment.DO_NOT_TRACK ??= '1';
  return environment;
}
