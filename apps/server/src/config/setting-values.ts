// Schemas of setting values, one function per kind: numbers, folders, sizes, lists. Callers: the tables in `settings`.

import { resolve } from 'node:path';
import { z } from 'zod';

export const MEBIBYTE = 1024 * 1024;
const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, kb: 1024, mb: MEBIBYTE, gb: 1024 * MEBIBYTE };

/** A name for each model: of its reasoning parser, of its tool dialect. */
export interface NamesByModel<Name> {
  readonly ofModel: ReadonlyMap<string, Name>;
  readonly ofOthers: Name;
}

/** The chat template file of each model, where it is not the model's own. */
export interface ChatTemplateFiles {
  readonly ofModel: ReadonlyMap<string, string>;
  readonly ofOthers: string | undefined;
}

export function wholeNumber(minimum: number, maximum: number): z.ZodType<number, string> {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine(value => value >= minimum && value <= maximum, message);
}

/** Path of a folder, absolute. */
export function folder(): z.ZodType<string, string> {
  return z
    .string()
    .min(1, 'must not be empty')
    .transform(path => resolve(path));
}

export function oneOf<const Name extends string>(names: readonly Name[]): z.ZodType<Name, string> {
  const message = `must be one of ${names.join(', ')}`;
  return z
    .string()
    .refine((text): text is Name => (names as readonly string[]).includes(text), message)
    .transform(text => text as Name);
}

export function postgresUrl(): z.ZodType<string, string> {
  const message =
    'must be a URL such as postgres://user:password@host:5432/database. It holds keys, trajectories, checkpoints and feedback; ClickHouse can take feedback only, by CLICKHOUSE_URL';
  return z.string().refine(text => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text), message);
}

export function clickhouseUrl(): z.ZodType<string, string> {
  const message =
    'must be the URL of its HTTP interface, such as http://user:password@host:8123/database. It holds feedback only; everything else stays in SQLite or in the PostgreSQL of DATABASE_URL';
  return z.string().refine(text => /^https?:\/\//.test(text) && URL.canParse(text), message);
}

/** Sizes such as 500kb. Unit: bytes. */
export function byteSize(minimum: number, maximum: number): z.ZodType<number, string> {
  const message = `must be a size such as 500kb or 8mb, from ${shownSize(minimum)} to ${shownSize(maximum)}`;
  return z
    .string()
    .regex(/^\d{1,12}(kb|mb|gb)?$/i, message)
    .transform(text => {
      const [, digits, unit] = /^(\d+)(.*)$/.exec(text)!;
      return Number(digits) * BYTE_UNITS[unit!.toLowerCase()]!;
    })
    .refine(bytes => bytes >= minimum && bytes <= maximum, message);
}

/** Unit: bytes. */
function shownSize(bytes: number): string {
  const units = ['kb', 'mb', 'gb'].filter(unit => bytes % BYTE_UNITS[unit]! === 0);
  const unit = units.at(-1) ?? '';
  return `${bytes / BYTE_UNITS[unit]!}${unit}`;
}

export function originList(): z.ZodType<'*' | readonly string[], string> {
  return z.string().transform((text, context) => {
    if (text === '*') return '*' as const;
    if (text === 'none') return [];
    const origins = text.split(',').map(origin => origin.trim());
    for (const origin of origins)
      if (!URL.canParse(origin) || new URL(origin).origin !== origin)
        context.addIssue(`must list origins such as https://example.org; "${origin}" is not an origin`);
    return origins;
  });
}

/** A number from 0 to 1. */
export function share(): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number);
}

export function httpUrl(): z.ZodType<string, string> {
  return z
    .string()
    .refine(
      text => /^https?:\/\//.test(text) && URL.canParse(text),
      'must be a URL such as http://localhost:4318/v1/traces',
    );
}

/** Headers such as `name=value,other=value`, values percent-encoded. Source: W3C baggage, which OpenTelemetry names. */
export function headerList(): z.ZodType<Readonly<Record<string, string>>, string> {
  return z.string().transform((text, context) => {
    const headers: Record<string, string> = {};
    for (const pair of text.split(',').filter(part => part.trim() !== '')) {
      const [, name, value] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair) ?? [];
      try {
        headers[name!.toLowerCase()] = decodeURIComponent(value!);
      } catch {
        context.addIssue('must list headers such as api-key=secret,other=value, with values percent-encoded');
      }
    }
    return headers;
  });
}

/** Host names without ports, or `*`. */
export function hostList(): z.ZodType<'*' | readonly string[], string> {
  return z.string().transform((text, context) => {
    if (text.trim() === '*') return '*' as const;
    const names = text.split(',').map(name => name.trim().toLowerCase());
    for (const name of names)
      if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name))
        context.addIssue(
          `must list host names such as llm.example.org, without ports; "${name}" is not a host name`,
        );
    return names;
  });
}

/** A name for each model, and one for all others. */
export function namesByModel<Name extends string>(
  names: readonly Name[],
  fallback: Name,
): z.ZodType<NamesByModel<Name>, string> {
  return z.string().transform((text, context) => {
    const ofModel = new Map<string, Name>();
    let ofOthers: Name | undefined;
    for (const entry of text.split(',')) {
      const [, id, given] = /^\s*(?:([^=\s]+)\s*=)?\s*(\S+)\s*$/.exec(entry) ?? [];
      const name = names.find(known => known === given);
      if (name === undefined)
        context.addIssue(`must list names or id=name pairs with a name of ${names.join(', ')}`);
      else if (id === undefined ? ofOthers !== undefined : ofModel.has(id)) context.addIssue(twice(id));
      else if (id === undefined) ofOthers = name;
      else ofModel.set(id, name);
    }
    return { ofModel, ofOthers: ofOthers ?? fallback };
  });
}

export function chatTemplateFiles(): z.ZodType<ChatTemplateFiles, string> {
  return z.string().transform((text, context) => {
    const ofModel = new Map<string, string>();
    let ofOthers: string | undefined;
    for (const entry of text.split(',').filter(part => part.trim() !== '')) {
      const [, id, file] = /^\s*(?:([^=\s/\\]+)\s*=)?\s*(.+?)\s*$/.exec(entry)!;
      if (id === undefined ? ofOthers !== undefined : ofModel.has(id)) context.addIssue(twice(id));
      else if (id === undefined) ofOthers = resolve(file!);
      else ofModel.set(id, resolve(file!));
    }
    return { ofModel, ofOthers };
  });
}

/** The message for a second entry of a model, or of all others. */
function twice(id: string | undefined): string {
  return `names ${id === undefined ? 'two for all models' : `the model ${id} twice`}`;
}
