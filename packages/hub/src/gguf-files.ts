// Which GGUF file of a repository is meant. Source: llama.cpp, `common/download.cpp`: a quantisation is part of the file name,
// Q4_K_M is taken before Q8_0 before the first file, files named after other things than models are left out.

import { HubError } from './errors.ts';

export interface GgufFiles {
  /** The file, or its shards in order. */
  readonly paths: readonly string[];
  /** As the file name has it, in capitals; empty where it has none. */
  readonly quant: string;
}

const PREFERRED = ['Q4_K_M', 'Q8_0'];
/** Parts of names of files that hold something else: image encoders, importance matrices, heads for drafts. */
const OTHER_CONTENT = /mmproj|imatrix|mtp-|eagle3-|dflash-|dspark-/;
const SHARD = /^(?<stem>.+)-(?<index>\d{5})-of-(?<count>\d{5})\.gguf$/i;

interface ModelFile {
  readonly path: string;
  /** Path without shard numbers and extension. */
  readonly stem: string;
  readonly shardCount: number;
}

/** Models of a listing: single files and first shards, in the order of the listing. */
function listModels(paths: readonly string[]): readonly ModelFile[] {
  return paths.flatMap(path => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (!/\.gguf$/i.test(name) || OTHER_CONTENT.test(name)) return [];
    const { stem, index, count } = SHARD.exec(path)?.groups ?? {};
    if (stem === undefined) return [{ path, stem: path.replace(/\.gguf$/i, ''), shardCount: 1 }];
    return Number(index) === 1 ? [{ path, stem, shardCount: Number(count) }] : [];
  });
}

/** Whether the listing has a GGUF model. */
export function hasGguf(paths: readonly string[]): boolean {
  return listModels(paths).length > 0;
}

/** Quantisations of a listing, in its order, each once. */
export function listQuants(paths: readonly string[]): readonly string[] {
  return [
    ...new Set(
      listModels(paths)
        .map(quantOf)
        .filter(quant => quant !== ''),
    ),
  ];
}

/** Throws: `not_found` for a quantisation that the listing does not have, and for missing shards. */
export function chooseGguf(
  repository: string,
  paths: readonly string[],
  quant: string | undefined,
): GgufFiles {
  const models = listModels(paths);
  const wanted = quant === undefined ? PREFERRED : [quant];
  const found = wanted
    .map(name => models.find(model => hasQuant(model, name)))
    .find(model => model !== undefined);
  const chosen = found ?? (quant === undefined ? models[0] : undefined);
  if (chosen === undefined) {
    const quants = listQuants(paths);
    const names = quants.length === 0 ? models.map(({ path }) => path) : quants;
    const there = names.length === 0 ? 'It has no GGUF file.' : `It has ${names.join(', ')}.`;
    throw new HubError('not_found', `${repository} has no quantisation ${quant}. ${there}`);
  }
  return { paths: shardsOf(repository, chosen, paths), quant: quantOf(chosen) };
}

/** Stands between separators, so that F16 does not find BF16. Names hold letters, digits, _ and - only. */
function hasQuant({ stem }: ModelFile, quant: string): boolean {
  return new RegExp(`(^|[-._/])${quant}([-./]|$)`, 'i').test(stem);
}

function quantOf({ stem }: ModelFile): string {
  return /(?:^|[-./])((?:UD-)?[A-Z0-9_]+)$/i.exec(stem)?.[1]?.toUpperCase() ?? '';
}

function shardsOf(
  repository: string,
  { path, stem, shardCount }: ModelFile,
  paths: readonly string[],
): readonly string[] {
  if (shardCount <= 1) return [path];
  const digits = (value: number) => String(value).padStart(5, '0');
  const shards = Array.from(
    { length: shardCount },
    (_, i) => `${stem}-${digits(i + 1)}-of-${digits(shardCount)}.gguf`,
  );
  const present = new Set(paths);
  const missing = shards.find(shard => !present.has(shard));
  if (missing === undefined) return shards;
  throw new HubError(
    'not_found',
    `${repository} lacks ${missing}, one of the ${shardCount} parts of ${path}.`,
  );
}
