// The value of `--models`: models of this server, by folder, file or name, and models that other servers answer for.
// Caller: the settings of models.

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { formatModelReference, type ModelSource, parseModelSource } from '@ortler/hub';
import { z } from 'zod';

export type ConfiguredModel = OwnModel | UpstreamServers;

/** A model that this server loads. */
export interface OwnModel {
  readonly id: string;
  /** An absolute path, or the name of a model of the Hub in its shortest form. */
  readonly source: string;
}

/** A model that a pool of OpenAI-compatible servers answers for. */
export interface UpstreamServers {
  readonly id: string;
  /** Base addresses, such as https://host/v1. */
  readonly urls: readonly string[];
  /** The model's name at the servers. */
  readonly name: string;
}

export function isOwnModel(model: ConfiguredModel): model is OwnModel {
  return 'source' in model;
}

/** An entry that cannot be read; `message` says why, as the end of a sentence. */
class EntryError extends Error {}

export function modelList(): z.ZodType<readonly ConfiguredModel[], string> {
  return z.string().transform((text, context) => {
    const models: ConfiguredModel[] = [];
    for (const entry of text.split(',').map(part => part.trim())) {
      try {
        const last = models.at(-1);
        if (isServer(entry)) models.splice(-1, 1, withServer(entry, last));
        else {
          const model = parseModel(entry);
          if (models.some(({ id }) => id === model.id))
            throw new EntryError(`names the model ${model.id} twice`);
          models.push(model);
        }
      } catch (error) {
        if (!(error instanceof EntryError)) throw error;
        context.addIssue(error.message);
      }
    }
    return models;
  });
}

function parseModel(text: string): ConfiguredModel {
  const [, id, source] = /^([^=\s]+?)\s*=\s*(.+)$/.exec(text) ?? [];
  if (id !== undefined && source !== undefined) {
    if (!isServer(source)) return { id, source: formatModelSource(parseModelSource(source)) };
    const { url, name } = parseServer(source);
    return { id, urls: [url], name: name ?? id };
  }
  const unread = new EntryError(
    `must list id=path pairs, id=URL pairs, paths that exist, or names such as org/model, separated by commas; "${text}" is none of these`,
  );
  if (/^\s*$|=/.test(text)) throw unread;
  const found = parseModelSource(text);
  if (found.kind === 'hub') {
    const name = formatModelReference(found.reference);
    return { id: name, source: name };
  }
  // A path alone is a model if it exists; its last part is the id.
  if (!existsSync(found.path)) throw unread;
  return { id: basename(found.path), source: found.path };
}

/** One more server of the model before it. */
function withServer(text: string, model: ConfiguredModel | undefined): UpstreamServers {
  if (model === undefined || isOwnModel(model))
    throw new EntryError(
      `must give a server an id, as in big=${text}; an address without one is a further server of the model before it`,
    );
  const { url, name } = parseServer(text);
  if (name !== undefined && name !== model.name)
    throw new EntryError(
      `must give all servers of ${model.id} one name of the model; got ${model.name} and ${name}`,
    );
  if (model.urls.includes(url)) throw new EntryError(`names the server ${url} twice`);
  return { ...model, urls: [...model.urls, url] };
}

/** Throws: `EntryError`, without what may be a password. */
function parseServer(text: string): { readonly url: string; readonly name: string | undefined } {
  const [address = '', ...rest] = text.split('#');
  const name = rest.length === 0 ? undefined : rest.join('#');
  if (name === '') throw new EntryError('must have the name of the model after the # of an address');
  if (!URL.canParse(address))
    throw new EntryError(
      'must list addresses such as https://host/v1#name, and one of its entries is not an address',
    );
  const { username, password, search, href } = new URL(address);
  if (username !== '' || password !== '')
    throw new EntryError('must have addresses without user and password; ORTLER_UPSTREAM_KEY is for keys');
  if (search !== '') throw new EntryError(`must have addresses without a query; got ${address}`);
  return { url: href.replace(/\/+$/, ''), name };
}

/** An address, but of no page of the Hub, which names a model. */
function isServer(text: string): boolean {
  return /^https?:\/\//i.test(text) && parseModelSource(text).kind !== 'hub';
}

/** An absolute path, or the name in its shortest form. */
export function formatModelSource(source: ModelSource): string {
  return source.kind === 'path' ? source.path : formatModelReference(source.reference);
}
