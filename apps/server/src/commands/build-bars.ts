// Progress of downloads and builds: bars on a terminal, a few lines elsewhere.

import { formatBytes } from '@ortler/hub';
import { MultiBar, type SingleBar } from 'cli-progress';
import type { PrepareProgress } from '../models/prepare-events.ts';
import type { Terminal } from './terminal.ts';

/** Shows concurrent downloads and builds, by the name of their model. */
export interface BuildBars {
  update(name: string, progress: PrepareProgress): void;
  /** Download and build have succeeded or failed. Unknown names are ignored. */
  end(name: string): void;
}

const STAGE_NAMES: Readonly<Record<PrepareProgress['stage'], string>> = {
  download: 'downloading',
  check: 'checking',
  hash: 'reading',
  weights: 'building',
  finish: 'finishing',
};
const MEBIBYTE = 1024 * 1024;
/** Sizes for people are powers of ten, as the Hub shows them. */
const MEGABYTE = 1e6;
/** Steps between two lines without a terminal. Unit: percent. */
const LINE_STEP_PERCENT = 25;
/** A download takes longer than a build. */
const DOWNLOAD_STEP_PERCENT = 10;
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
    update(name, progress) {
      const { stage, doneBytes, totalBytes } = progress;
      const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
      const stepPercent = stage === 'download' ? DOWNLOAD_STEP_PERCENT : LINE_STEP_PERCENT;
      const isBrief = stage === 'finish' || stage === 'check';
      const step = isBrief ? '' : ` ${percent - (percent % stepPercent)}%`;
      const line = `  ${name}: ${STAGE_NAMES[stage]}${step}`;
      if (line !== last.get(name)) terminal.err(`${line}${describeSpeed(progress)}\n`);
      last.set(name, line);
    },
    end: name => void last.delete(name),
  };
}

function createScreenBars(): BuildBars {
  const format = '  {name}: {stage} [{bar}] {percentage}% | {value}/{total} MB{speed}';
  const bars = new Map<string, SingleBar>();
  let screen: MultiBar | undefined;
  return {
    update(name, progress) {
      const { stage, doneBytes, totalBytes } = progress;
      const shown = { name, stage: STAGE_NAMES[stage], speed: describeSpeed(progress) };
      screen ??= new MultiBar({ format, clearOnComplete: true, stream: process.stderr });
      const bar = bars.get(name) ?? screen.create(1, 0, shown);
      bars.set(name, bar);
      bar.setTotal(Math.max(1, Math.round(totalBytes / MEGABYTE)));
      bar.update(Math.round(doneBytes / MEGABYTE), shown);
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

/** For example ", 35.2 MB/s, 1:05 min left"; empty where no speed is known. */
function describeSpeed(progress: PrepareProgress): string {
  if (progress.stage !== 'download') return '';
  const { bytesPerSecond, secondsLeft } = progress;
  if (bytesPerSecond === undefined || secondsLeft === undefined) return '';
  return `, ${formatBytes(bytesPerSecond)}/s, ${formatTime(secondsLeft)} left`;
}

function formatTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const digits = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${digits(whole % 60)} min`;
  return `${Math.floor(minutes / 60)}:${digits(minutes % 60)} h`;
}
