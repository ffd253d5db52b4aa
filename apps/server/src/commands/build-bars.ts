// Progress of builds: bars on a terminal, a few lines elsewhere.

import type { BuildProgress } from '@ortler/model-builder';
import { MultiBar, type SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** Shows concurrent builds, by the name of their model. */
export interface BuildBars {
  update(name: string, progress: BuildProgress): void;
  /** The build has succeeded or failed. Unknown names are ignored. */
  end(name: string): void;
}

const STAGE_NAMES: Readonly<Record<BuildProgress['stage'], string>> = {
  hash: 'reading',
  weights: 'building',
  finish: 'finishing',
};
const MEBIBYTE = 1024 * 1024;
/** Steps between two lines without a terminal. Unit: percent. */
const LINE_STEP_PERCENT = 25;
/** Hashing a smaller checkpoint is too quick to show. */
const MIN_SHOWN_BYTES = 64 * MEBIBYTE;

export function createBuildBars(terminal: Terminal): BuildBars {
  const show = terminal.isScreen ? createScreenBars() : createLines(terminal);
  return {
    update(name, progress) {
      if (progress.stage !== 'hash' || progress.totalBytes >= MIN_SHOWN_BYTES) show.update(name, progress);
    },
    end: show.end,
  };
}

function createLines(terminal: Terminal): BuildBars {
  const last = new Map<string, string>();
  return {
    update(name, { stage, doneBytes, totalBytes }) {
      const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
      const step = stage === 'finish' ? '' : ` ${percent - (percent % LINE_STEP_PERCENT)}%`;
      const line = `  ${name}: ${STAGE_NAMES[stage]}${step}\n`;
      if (line !== last.get(name)) terminal.err(line);
      last.set(name, line);
    },
    end: name => void last.delete(name),
  };
}

function createScreenBars(): BuildBars {
  const format = '  {name}: {stage} [{bar}] {percentage}% | {value}/{total} MB';
  const bars = new Map<string, SingleBar>();
  let screen: MultiBar | undefined;
  return {
    update(name, { stage, doneBytes, totalBytes }) {
      screen ??= new MultiBar({ format, clearOnComplete: true, stream: process.stderr });
      const bar = bars.get(name) ?? screen.create(1, 0, { name, stage: STAGE_NAMES[stage] });
      bars.set(name, bar);
      bar.setTotal(Math.max(1, Math.round(totalBytes / MEBIBYTE)));
      bar.update(Math.round(doneBytes / MEBIBYTE), { name, stage: STAGE_NAMES[stage] });
    },
    end(name) {
      const bar = bars.get(name);
      if (bar === undefined) return;
      bars.delete(name);
      screen?.remove(bar);
      if (bars.size > 0) return;
      screen?.stop();
      screen = undefined;
    },
  };
}
