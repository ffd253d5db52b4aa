// What `ortler doctor` found: one line each, with what to do where something is wrong.

export interface Finding {
  readonly subject: string;
  /** `warning`: works, but not as well as it could. `problem`: `ortler serve` would fail, or answer nothing. */
  readonly state: 'ok' | 'warning' | 'problem';
  readonly detail: string;
  /** What to do. */
  readonly remedy?: string;
}

const MARKS = { ok: 'ok', warning: 'warning', problem: 'PROBLEM' } as const;

/** A line for each finding, and one below it for its remedy. */
export function printFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  return findings
    .map(({ subject, state, detail, remedy }) => {
      const line = `${MARKS[state].padEnd(8)} ${subject.padEnd(width)}  ${detail}\n`;
      return remedy === undefined ? line : `${line}${' '.repeat(9 + width + 2)}→ ${remedy}\n`;
    })
    .join('');
}
