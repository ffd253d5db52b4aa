// Kysely's query compiler for ClickHouse: identifiers in backticks, and typed, named parameters (`{p1:String}`), which
// are sent in `query_params`, never in the SQL text.
import { DefaultQueryCompiler } from 'kysely';

/** Compiles Kysely nodes to ClickHouse SQL; parameter `n` of the compiled query is `pn` in the text. */
export class ClickHouseQueryCompiler extends DefaultQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    this.addParameter(parameter);
    this.append(`{p${this.numParameters}:${parameterType(parameter)}}`);
  }

  protected override getLeftIdentifierWrapper(): string {
    return '`';
  }

  protected override getRightIdentifierWrapper(): string {
    return '`';
  }

  protected override sanitizeIdentifier(identifier: string): string {
    return identifier.replace(/[\\`]/g, '\\$&');
  }
}

function parameterType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'String';
    case 'number':
      return 'Float64';
    case 'bigint':
      return 'UInt64';
    default:
      throw new TypeError(`A ${typeof value} cannot be a ClickHouse parameter`);
  }
}

/** The parameters of a compiled query by name, for `query_params` of the ClickHouse client, which would write -0 as 0. */
export function toClickHouseParams(parameters: readonly unknown[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    parameters.map((value, index) => [`p${index + 1}`, Object.is(value, -0) ? '-0' : value]),
  );
}
