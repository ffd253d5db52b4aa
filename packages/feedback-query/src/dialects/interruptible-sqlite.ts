// SQLite for connections on which a caller's statement must stop soon after the caller has left. SQLite cannot be interrupted from
// outside its thread, so the SQL calls two functions that the connection defines, and that may throw.
import { SqliteAdapter, SqliteQueryCompiler } from 'kysely';
import type { QueryDialect } from '../compile/dialect.ts';
import { fragment, type SqlFragment, trustedSql } from '../compile/sql-fragment.ts';
import { SqliteSyntax } from './sqlite.ts';

export interface InterruptionFunctions {
  /** Name of a function without arguments: 1, unless the statement shall stop. */
  readonly check: string;
  /** Name of a function (input, needle): as SQLite's `instr`, but it may be stopped, and takes linear time in practice. */
  readonly search: string;
  /** Longer needles are searched by the function. Default: `MAX_INSTR_NEEDLE_LENGTH`. Unit: UTF-16 units. */
  readonly maxInstrNeedleLength?: number;
}

/**
 * `instr` compares the needle at each place of the input: with long ones of repeated characters a single call takes seconds. It is
 * faster than a function of the connection for all others. Unit: UTF-16 units.
 */
const MAX_INSTR_NEEDLE_LENGTH = 128;

/** The dialect for connections that define these functions. Make it once: compilers are cached by dialect. */
export function createInterruptibleSqliteDialect(functions: InterruptionFunctions): QueryDialect {
  return Object.freeze({
    name: 'sqlite',
    createSyntax: () => new InterruptibleSqliteSyntax(functions),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
  });
}

class InterruptibleSqliteSyntax extends SqliteSyntax {
  readonly #check: SqlFragment;
  readonly #search: SqlFragment;
  readonly #maxInstrNeedleLength: number;

  constructor({ check, search, maxInstrNeedleLength = MAX_INSTR_NEEDLE_LENGTH }: InterruptionFunctions) {
    super();
    this.#check = trustedSql(`${check}()`);
    this.#search = trustedSql(search);
    this.#maxInstrNeedleLength = maxInstrNeedleLength;
  }

  override contains(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return this.#isShort(needle)
      ? super.contains(input, needle)
      : fragment`(${this.#search}(${input}, ${needle}) > 0)`;
  }
  override startsWith(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return this.#isShort(needle)
      ? super.startsWith(input, needle)
      : fragment`(${this.#search}(${input}, ${needle}) = 1)`;
  }
  override interruptionPoint(): SqlFragment {
    return this.#check;
  }

  /** Whether the needle is one parameter, of few characters. */
  #isShort({ values }: SqlFragment): boolean {
    const [value] = values;
    return values.length === 1 && typeof value === 'string' && value.length <= this.#maxInstrNeedleLength;
  }
}
