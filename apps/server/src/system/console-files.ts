// The console's built files: its page at / and, below /assets, files whose names carry a hash of their content. Only files
// that the build listed are served, from memory, so no path of a request reaches the file system.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from '@ortler/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsGzip } from '../rest/compress.ts';
import { pageHeaders, SAFE_REPLY_HEADERS } from '../rest/page-headers.ts';

interface BuiltFile {
  readonly type: string;
  readonly content: Buffer;
  /** Compressed on the first request for it. */
  gzipped?: Promise<Buffer>;
}

type Build = ReadonlyMap<string, BuiltFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page runs no script, style or connection but those of this server, and nobody may frame it. */
const PAGE_HEADERS = { ...pageHeaders(), 'cache-control': 'no-cache' };

const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  ...SAFE_REPLY_HEADERS,
};

const DIST = join(dirname(fileURLToPath(import.meta.resolve('@ortler/console/package.json'))), 'dist');

const compress = promisify(gzip);

export interface ConsoleFiles {
  /** Undefined where the console is not built. */
  sendPage(request: FastifyRequest, reply: FastifyReply): Promise<Buffer> | undefined;
  /** `name`: what follows /assets/. Throws: `path_not_found`. */
  sendAsset(name: string, request: FastifyRequest, reply: FastifyReply): Promise<Buffer>;
}

/** Serves the build in `folder`. It is read on the first request, and sought again while there is none. */
export function createConsoleFiles(folder = DIST): ConsoleFiles {
  let built: Build | undefined;
  const find = (name: string) => {
    built ??= readBuild(folder);
    return built?.get(name);
  };
  const send = async (request: FastifyRequest, reply: FastifyReply, file: BuiltFile) => {
    reply.type(file.type).header('vary', 'accept-encoding');
    if (!acceptsGzip(request.headers['accept-encoding'])) return file.content;
    file.gzipped ??= compress(file.content, { level: 9 });
    reply.header('content-encoding', 'gzip');
    return file.gzipped;
  };
  return {
    sendPage(request, reply) {
      const page = find('index.html');
      return page && send(request, reply.headers(PAGE_HEADERS), page);
    },
    async sendAsset(name, request, reply) {
      const file = find(`assets/${name}`);
      if (file === undefined) throw new ApiError('path_not_found', `There is nothing at ${request.url}.`);
      return send(request, reply.headers(ASSET_HEADERS), file);
    },
  };
}

/** Undefined where the console is not built. */
function readBuild(folder: string): Build | undefined {
  const names = listFiles(folder);
  if (!names.includes('index.html')) return undefined;
  return new Map(
    names.flatMap(name => {
      const type = TYPES[extname(name)];
      return type === undefined ? [] : [[name, { type, content: readFileSync(join(folder, name)) }]];
    }),
  );
}

/** Names below the folder, with slashes. */
function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => name.replaceAll('\\', '/'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
