// Plain output for people: lines to standard output, progress to standard error, no colours where nobody sees them.

import type { BuildProgress } from '@ortler/model-builder';

/** Where a command writes; tests collect it. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a screen that can redraw a line. */
  readonly isScreen: boolean;
}

export const processTerminal: Terminal = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isScreen: process.stderr.isTTY === true,
};

/** Shows one build after the other. */
export interface BuildBar {
  update(progress: BuildProgress): void;
  stop(): void;
}

const STAGE_NAMES: Readonly<Record<BuildProgress['stage'], string>> = {
  hash: 'reading',
  weights: 'building',
  finish: 'finishing',
};
const MEBIBYTE = 1024 * 1024;
/** Without a screen a line is written at each of these steps. Unit: percent. */
const LINE_STEP_PERCENT = 25;
/** A checkpoint is read at every first start; only a long read is worth a bar. */
const MIN_SHOWN_BYTES = 64 * MEBIBYTE;

/** A progress bar on a screen, a few lines elsewhere. The bar's library is loaded when there is something to show. */
export function createBuildBar(terminal: Terminal, name: string): BuildBar {
  let bar: Promise<{ update(progress: BuildProgress): void; stop(): void }> | undefined;
  let lastLine = '';
  return {
    update(progress) {
      const { stage, doneBytes, totalBytes } = progress;
      if (stage === 'hash' && totalBytes < MIN_SHOWN_BYTES) return;
      if (terminal.isScreen) {
        bar ??= startScreenBar(name);
        void bar.then(started => started.update(progress));
        return;
      }
      const percent = totalBytes === 0 ? 0 : Math.floor((doneBytes / totalBytes) * 100);
      const step = percent - (percent % LINE_STEP_PERCENT);
      const line = `  ${name}: ${STAGE_NAMES[stage]} ${stage === 'finish' ? '' : `${step}%`}`.trimEnd();
      if (line !== lastLine) terminal.err(`${line}\n`);
      lastLine = line;
    },
    stop() {
      void bar?.then(started => started.stop());
    },
  };
}

async function startScreenBar(
  name: string,
): Promise<{ update(progress: BuildProgress): void; stop(): void }> {
  const { default: cliProgress } = await import('cli-progress');
  const format = `  ${name}: {stage} [{bar}] {percentage}% | {value}/{total} MB`;
  const bar = new cliProgress.SingleBar({
    format,
    hideCursor: true,
    clearOnComplete: true,
    stream: process.stderr,
  });
  bar.start(1, 0, { stage: 'reading' });
  return {
    update({ stage, doneBytes, totalBytes }) {
      bar.setTotal(Math.max(1, Math.round(totalBytes / MEBIBYTE)));
      bar.update(Math.round(doneBytes / MEBIBYTE), { stage: STAGE_NAMES[stage] });
    },
    stop: () => bar.stop(),
  };
}
