// The pinned compiler: a package of PyPI in a Python environment below `.cache`, installed on first use.

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { BuildError, runProgram } from './programs.mjs';
import { ZIG_VERSION } from './targets.mjs';

const CACHE = fileURLToPath(new URL('../../../.cache/kernels', import.meta.url));
const ENVIRONMENT = `${CACHE}/ziglang-${ZIG_VERSION}`;
const IS_WINDOWS = process.platform === 'win32';
const PYTHON = IS_WINDOWS ? `${ENVIRONMENT}/Scripts/python.exe` : `${ENVIRONMENT}/bin/python`;

/** Gives a function that runs Zig's C compiler in a folder. */
export async function installZig(log) {
  if (!(await hasZig())) await install(log);
  const env = {
    ...process.env,
    ZIG_GLOBAL_CACHE_DIR: `${CACHE}/zig-cache`,
    ZIG_LOCAL_CACHE_DIR: `${CACHE}/zig-cache`,
  };
  return (title, args, cwd) => runProgram(title, PYTHON, ['-m', 'ziglang', 'cc', ...args], { cwd, env });
}

async function hasZig() {
  if (!existsSync(PYTHON)) return false;
  const found = await runProgram('Asking for the version of Zig', PYTHON, ['-m', 'ziglang', 'version']).catch(
    () => '',
  );
  return found.trim() === ZIG_VERSION;
}

async function install(log) {
  log(`Installing ziglang ${ZIG_VERSION} from PyPI, about 100 MB, once.`);
  await rm(ENVIRONMENT, { recursive: true, force: true });
  await runProgram('Making a Python environment', IS_WINDOWS ? 'python' : 'python3', [
    '-m',
    'venv',
    ENVIRONMENT,
  ]).catch(explainPython);
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `ziglang==${ZIG_VERSION}`];
  await runProgram('Installing ziglang', PYTHON, args).catch(explainNetwork);
}

function explainPython(error) {
  const advice =
    'The compiler comes from PyPI: install Python 3 with its venv module (Debian: python3-venv), then try again.';
  throw new BuildError(`${advice}\n${error.message}`, { cause: error });
}

async function explainNetwork(error) {
  await rm(ENVIRONMENT, { recursive: true, force: true });
  throw new BuildError(
    `ziglang ${ZIG_VERSION} could not be had from PyPI. Is there a network?\n${error.message}`,
    { cause: error },
  );
}
