// Progress of downloads and builds: bars on a terminal, a few lines elsewhere.

import { formatBytes } from '@ortler/hub';
import type { PrepareProgress } from '../models/prepare-events.ts';
import { createScreenLines, type Screen } from './screen-lines.ts';
import type { Terminal } from './terminal.ts';

/** Shows concurrent downloads and builds, by the name of their model. */
export interface BuildBars {
  update(name: string, progress: PrepareProgress): void;
  /** Download and build have succeeded or failed. Unknown names are ignored. */
  end(name: string): void;
  /** Writes whole lines to standard output, above the bars. */
  print(text: string): void;
  /** Ends all; nothing is shown from now on. */
  close(): void;
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
const BAR_WIDTH = 40;

/** On a terminal the bars are drawn on `screen`, which is standard error. */
export function createBuildBars(terminal: Terminal, screen: Screen = process.stderr): BuildBars {
  const show = terminal.isScreen ? createScreenBars(terminal, screen) : createLines(terminal);
  let isClosed = false;
  return {
    ...show,
    update(name, progress) {
      const isShown = progress.stage !== 'hash' || progress.totalBytes >= MIN_SHOWN_BYTES;
      if (isShown && !isClosed) show.update(name, progress);
    },
    close() {
      isClosed = true;
      show.close();
    },
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
    print: terminal.out,
    close: () => undefined,
  };
}

function createScreenBars(terminal: Terminal, screen: Screen): BuildBars {
  const lines = createScreenLines(screen);
  return {
    update: (name, progress) => lines.set(name, toBar(name, progress)),
    end: lines.remove,
    print: text => lines.above(() => terminal.out(text)),
    close: lines.clear,
  };
}

function toBar(name: string, progress: PrepareProgress): string {
  const { stage, doneBytes, totalBytes } = progress;
  const total = Math.max(1, Math.round(totalBytes / MEGABYTE));
  const done = Math.round(doneBytes / MEGABYTE);
  const share = Math.min(1, done / total);
  const bar = '='.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '-');
  const percent = Math.floor(share * 100);
  return `  ${name}: ${STAGE_NAMES[stage]} [${bar}] ${percent}% | ${done}/${total} MB${describeSpeed(progress)}`;
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
