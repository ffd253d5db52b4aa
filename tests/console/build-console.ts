// Builds the console before the end-to-end tests, unless the build there is newer than its sources.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../support/server.ts';
import { findBrowser } from './browser.ts';

const FOLDER = join(REPOSITORY, 'apps/console');
const PAGE = join(FOLDER, 'dist/index.html');

export function setup(): void {
  if (findBrowser() === undefined || isCurrent()) return;
  const vite = join(FOLDER, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'error'], { cwd: FOLDER, stdio: 'inherit' });
}

function isCurrent(): boolean {
  if (!existsSync(PAGE)) return false;
  const builtMs = statSync(PAGE).mtimeMs;
  const sources = readdirSync(join(FOLDER, 'src'), { recursive: true, encoding: 'utf8' });
  const files = ['index.html', 'vite.config.ts', 'package.json', ...sources.map(name => join('src', name))];
  return files.every(name => statSync(join(FOLDER, name)).mtimeMs < builtMs);
}
