// ClickHouse 24.8 and later. The payload is a String column of JSON text, list columns are Array(String), map
// columns Map(String, String or Float64), created_at is DateTime64(3, 'UTC').
import { PostgresAdapter } from 'kysely';
import type { Cast, PayloadReading } from '../bind/bound-node.ts';
import type { Column } from '../bind/columns.ts';
import { toIsoMs } from '../bind/datetime-literal.ts';
import type { PathSegment } from '../bind/fields.ts';
import {
  type DialectSyntax,
  isPlainKey,
  NUMERIC_TEXT,
  NUMERIC_TEXT_LENGTH,
  type QueryDialect,
  TABLE_ALIAS,
} from '../compile/dialect.ts';
import {
  clauses,
  fragment,
  joinFragments,
  parameter,
  type SqlFragment,
  trustedSql,
} from '../compile/sql-fragment.ts';
import { assertNever } from '../errors.ts';
import { BaseSyntax } from './base-syntax.ts';
import { ClickHouseQueryCompiler } from './clickhouse-query-compiler.ts';

export const clickHouseDialect: QueryDialect = Object.freeze({
  name: 'clickhouse',
  createSyntax: () => new ClickHouseSyntax(),
  createQueryCompiler: () => new ClickHouseQueryCompiler(),
  // Kysely uses the adapter for inserts and migrations only, not for SELECT.
  createAdapter: () => new PostgresAdapter(),
});

const PAYLOAD = trustedSql(`${TABLE_ALIAS}.payload_dump`);
const NUMERIC = trustedSql(`'${NUMERIC_TEXT}'`);
const MAX_NUMERIC_LENGTH = trustedSql(String(NUMERIC_TEXT_LENGTH));
const NUMBER_TYPES = trustedSql(`('Int64', 'UInt64', 'Double')`);

class ClickHouseSyntax extends BaseSyntax implements DialectSyntax {
  override readonly listsNumbersByBits = true;

  text(value: string): SqlFragment {
    return parameter(value);
  }
  number(value: number): SqlFragment {
    return parameter(value);
  }
  datetime(epochMs: number): SqlFragment {
    const text = toIsoMs(epochMs).replace('T', ' ').replace('Z', '');
    return fragment`toDateTime64(${parameter(text)}, 3, 'UTC')`;
  }
  rowCount(value: number): SqlFragment {
    return parameter(BigInt(value));
  }

  mapValue(column: Column, key: string): SqlFragment {
    const map = this.column(column);
    return fragment`if(mapContains(${map}, ${parameter(key)}), ${map}[${parameter(key)}], NULL)`;
  }
  columnSize(column: Column): SqlFragment {
    return fragment`length(${this.column(column)})`;
  }
  hasElement(column: Column, needle: SqlFragment, foldCase: boolean): SqlFragment {
    const list = this.column(column);
    if (!foldCase) return fragment`has(${list}, ${needle})`;
    return fragment`has(arrayMap(element -> lower(element), ${list}), ${this.foldCase(needle)})`;
  }
  columnOutput(column: Column): SqlFragment {
    switch (column.type) {
      case 'text':
        return this.column(column);
      case 'datetime':
        return this.cast('datetime-to-text', this.column(column));
      case 'json':
        return PAYLOAD;
      case 'text-list':
      case 'text-map':
      case 'number-map':
        return fragment`toJSONString(${this.column(column)})`;
      default:
        return assertNever(column.type);
    }
  }

  payload(segments: readonly PathSegment[], reading: PayloadReading): SqlFragment {
    if (reading === 'text' && segments.length === 0) return PAYLOAD;
    return this.#at(segments, json => {
      switch (reading) {
        case 'text':
          return textAt(json);
        case 'number':
          return numberAt(json);
        case 'flag':
          return flagOf(textAt(json), this.cast('number-to-flag', numberAt(json)));
        default:
          return assertNever(reading);
      }
    });
  }
  payloadOutput(segments: readonly PathSegment[]): SqlFragment {
    if (segments.length === 0) return PAYLOAD;
    return this.#at(segments, json => fragment`nullIf(${json('JSONExtractRaw')}, '')`);
  }
  payloadExists(segments: readonly PathSegment[]): SqlFragment {
    return this.#at(segments, json => fragment`(${json('JSONExtractRaw')} <> '')`);
  }
  payloadIsNumber(segments: readonly PathSegment[]): SqlFragment {
    return this.#at(segments, json => fragment`(${json('JSONType')} IN ${NUMBER_TYPES})`);
  }
  payloadTruth(segments: readonly PathSegment[]): SqlFragment {
    return this.#at(
      segments,
      json => fragment`(${json('JSONExtractRaw')} NOT IN ('', 'null', 'false', '0', '""'))`,
    );
  }
  payloadSize(segments: readonly PathSegment[]): SqlFragment {
    return this.#at(segments, json =>
      clauses(
        fragment`multiIf(${json('JSONType')} IN ('Array', 'Object'), ${json('JSONLength')},`,
        fragment`${json('JSONType')} = 'String', lengthUTF8(${json('JSONExtractString')}),`,
        fragment`NULL)`,
      ),
    );
  }

  cast(cast: Cast, input: SqlFragment): SqlFragment {
    switch (cast) {
      case 'text-to-number':
        return this.share(input, numberFromText);
      case 'text-to-flag':
        return this.share(input, text => flagOf(text, this.cast('number-to-flag', numberFromText(text))));
      case 'number-to-flag':
        return this.share(
          input,
          value => fragment`if(${value} BETWEEN 0 AND 255 AND ${value} = trunc(${value}), ${value}, NULL)`,
        );
      case 'number-to-integer':
        return this.share(input, value =>
          clauses(
            fragment`if(${value} >= -9223372036854775808. AND ${value} < 9223372036854775808.,`,
            fragment`trunc(${value}),`,
            fragment`NULL)`,
          ),
        );
      case 'integer-to-text':
        return fragment`toString(toInt64(${input}))`;
      case 'datetime-to-text':
        return fragment`concat(replaceOne(toString(${input}, 'UTC'), ' ', 'T'), 'Z')`;
      default:
        return assertNever(cast);
    }
  }
  textLength(input: SqlFragment): SqlFragment {
    return fragment`lengthUTF8(${input})`;
  }
  foldCase(input: SqlFragment): SqlFragment {
    return fragment`lower(${input})`;
  }
  contains(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`(position(${input}, ${needle}) > 0)`;
  }
  startsWith(input: SqlFragment, needle: SqlFragment): SqlFragment {
    return fragment`startsWith(${input}, ${needle})`;
  }
  byteOrder(input: SqlFragment): SqlFragment {
    return input;
  }

  /** A lambda over an array of one element evaluates the value once. */
  share(value: SqlFragment, use: (shared: SqlFragment) => SqlFragment): SqlFragment {
    const name = this.newName();
    return fragment`arrayElement(arrayMap(${name} -> ${use(name)}, [${value}]), 1)`;
  }
  momentAndId(moment: SqlFragment, id: SqlFragment): SqlFragment {
    return fragment`concat(toString(${moment}, 'UTC'), ' ', ${id})`;
  }
  countRows(): SqlFragment {
    return trustedSql('count()');
  }

  /** Calls `use` with a function that writes a JSON function call at the path. */
  #at(segments: readonly PathSegment[], use: (json: JsonCall) => SqlFragment): SqlFragment {
    let doc = PAYLOAD;
    let keys: SqlFragment[] = [];
    for (const segment of segments) {
      if (typeof segment === 'string') {
        keys.push(isPlainKey(segment) ? trustedSql(`'${segment}'`) : parameter(segment));
        continue;
      }
      // A number would select the n-th member of an object, so a list position is extracted from lists only.
      const place = trustedSql(String(segment + 1));
      doc = this.share(
        jsonCall(doc, keys)('JSONExtractRaw'),
        value => fragment`if(JSONType(${value}) = 'Array', JSONExtractRaw(${value}, ${place}), '')`,
      );
      keys = [];
    }
    return doc === PAYLOAD ? use(jsonCall(doc, keys)) : this.share(doc, value => use(jsonCall(value, keys)));
  }
}

type JsonFunction = 'JSONType' | 'JSONLength' | 'JSONExtractRaw' | 'JSONExtractString' | 'JSONExtractFloat';
type JsonCall = (name: JsonFunction) => SqlFragment;

function jsonCall(doc: SqlFragment, keys: readonly SqlFragment[]): JsonCall {
  const operands = joinFragments([doc, ...keys], ', ');
  return name => fragment`${trustedSql(name)}(${operands})`;
}

function textAt(json: JsonCall): SqlFragment {
  return clauses(
    fragment`multiIf(${json('JSONType')} = 'String', ${json('JSONExtractString')},`,
    fragment`${json('JSONType')} = 'Null', NULL,`,
    fragment`${json('JSONType')} = 'Double', ${withPlus(json('JSONExtractRaw'))},`,
    fragment`${json('JSONExtractRaw')})`,
  );
}

/** ClickHouse writes `1e21` where JSON.stringify writes `1e+21`. */
function withPlus(text: SqlFragment): SqlFragment {
  return fragment`replaceRegexpOne(${text}, 'e([0-9])', 'e+\\\\1')`;
}

function numberAt(json: JsonCall): SqlFragment {
  return clauses(
    fragment`multiIf(${json('JSONType')} IN ${NUMBER_TYPES}, ${json('JSONExtractFloat')},`,
    fragment`${json('JSONType')} = 'String', ${numberFromText(json('JSONExtractString'))},`,
    fragment`NULL)`,
  );
}

function numberFromText(text: SqlFragment): SqlFragment {
  return clauses(
    fragment`if(lengthUTF8(${text}) <= ${MAX_NUMERIC_LENGTH} AND match(${text}, ${NUMERIC}),`,
    fragment`toFloat64OrNull(${text}),`,
    fragment`NULL)`,
  );
}

function flagOf(text: SqlFragment, numberFlag: SqlFragment): SqlFragment {
  return fragment`multiIf(${text} = 'true', 1, ${text} = 'false', 0, ${numberFlag})`;
}
