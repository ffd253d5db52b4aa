// A page of rows as the text of a JSON array, limited in bytes. Database threads and connections write it row by row, so that
// neither the rows nor their objects ever pass through the event loop together.

import { type ResultColumn, type ResultRow, toRowText } from '@ortler/feedback-query/result-row';

export interface JsonPageOptions {
  readonly columns: readonly ResultColumn[];
  /** A page ends before the row that exceeds this; it has at least one row. Unit: bytes of UTF-8. */
  readonly maxBytes: number;
}

export interface JsonPage {
  /** UTF-8: `[{...},{...}]`. */
  readonly text: Uint8Array<ArrayBuffer>;
  readonly rowCount: number;
  /** Whether rows were left out because of `maxBytes`. */
  readonly isCut: boolean;
  /** Columns of the last row that are not part of the answer: those of its cursor. Null for an empty page. */
  readonly lastRow: ResultRow | null;
}

export class JsonPageWriter {
  readonly #options: JsonPageOptions;
  readonly #texts: string[] = [];
  #byteCount = '[]'.length;
  #isCut = false;
  #lastRow: ResultRow | null = null;

  constructor(options: JsonPageOptions) {
    this.#options = options;
  }

  /** Adds a row. False: it does not fit, and the page ends before it. */
  add(row: ResultRow): boolean {
    const text = toRowText(this.#options.columns, row);
    const byteCount = Buffer.byteLength(text) + ','.length;
    if (this.#texts.length > 0 && this.#byteCount + byteCount > this.#options.maxBytes) {
      this.#isCut = true;
      return false;
    }
    this.#texts.push(text);
    this.#byteCount += byteCount;
    this.#lastRow = row;
    return true;
  }

  end(): JsonPage {
    const shown = new Set(this.#options.columns.map(({ column }) => column));
    const hidden = (row: ResultRow) => Object.entries(row).filter(([column]) => !shown.has(column));
    return {
      text: new TextEncoder().encode(`[${this.#texts.join(',')}]`),
      rowCount: this.#texts.length,
      isCut: this.#isCut,
      lastRow: this.#lastRow && Object.fromEntries(hidden(this.#lastRow)),
    };
  }
}
