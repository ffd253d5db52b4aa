// Progress of a download: bytes of all its files together, speed, and time left.

export interface DownloadProgress {
  /** `check`: all bytes are there, and the hash of the last files is computed. */
  readonly stage: 'download' | 'check';
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Speed of the last seconds. Absent at the beginning. */
  readonly bytesPerSecond?: number;
  readonly secondsLeft?: number;
}

/** The speed is a mean over about this long. */
const WINDOW_MS = 5_000;

interface Sample {
  readonly atMs: number;
  readonly receivedBytes: number;
}

export class ProgressMeter {
  readonly #totalBytes: number;
  readonly #now: () => number;
  readonly #intervalMs: number;
  readonly #report: (progress: DownloadProgress) => void;
  readonly #samples: Sample[];
  readonly #countDone: () => number;
  #receivedBytes = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: {
    readonly totalBytes: number;
    /** Bytes that are there now. It may shrink, when bytes were wrong. */
    readonly countDone: () => number;
    readonly intervalMs: number;
    /** A clock; only differences of its values matter. Unit: milliseconds. */
    readonly now: () => number;
    readonly report: (progress: DownloadProgress) => void;
  }) {
    this.#totalBytes = options.totalBytes;
    this.#countDone = options.countDone;
    this.#intervalMs = options.intervalMs;
    this.#now = options.now;
    this.#report = options.report;
    this.#samples = [{ atMs: options.now(), receivedBytes: 0 }];
    this.#send('download');
  }

  /** Bytes have arrived. */
  add(count: number): void {
    this.#receivedBytes += count;
    const now = this.#now();
    if (now - this.#reportedAtMs < this.#intervalMs) return;
    this.#samples.push({ atMs: now, receivedBytes: this.#receivedBytes });
    while (this.#samples.length > 2 && now - this.#samples[1]!.atMs >= WINDOW_MS) this.#samples.shift();
    this.#send('download');
  }

  /** A file is being checked, which shows only when nothing is left to download. */
  check(): void {
    if (this.#countDone() < this.#totalBytes || this.#now() - this.#reportedAtMs < this.#intervalMs) return;
    this.#send('check');
  }

  /** The last report. */
  end(): void {
    this.#send('check');
  }

  #send(stage: DownloadProgress['stage']): void {
    this.#reportedAtMs = this.#now();
    const bytesPerSecond = this.#speed();
    const doneBytes = this.#countDone();
    this.#report({
      stage,
      doneBytes,
      totalBytes: this.#totalBytes,
      ...(bytesPerSecond === undefined
        ? {}
        : { bytesPerSecond, secondsLeft: (this.#totalBytes - doneBytes) / bytesPerSecond }),
    });
  }

  #speed(): number | undefined {
    const [first, last] = [this.#samples[0]!, this.#samples.at(-1)!];
    const seconds = (last.atMs - first.atMs) / 1000;
    const bytes = last.receivedBytes - first.receivedBytes;
    return seconds > 0 && bytes > 0 ? bytes / seconds : undefined;
  }
}
