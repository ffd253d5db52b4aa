// Unpacks one file of a ZIP archive, the format of wheels. Layout: APPNOTE.TXT of PKWARE, without ZIP64 and encryption.

import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

interface ZipEntry {
  readonly name: string;
  readonly isCompressed: boolean;
  readonly compressedBytes: number;
  readonly headerOffset: number;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const LOCAL_HEADER_BYTES = 30;
const DEFLATED = 8;

/** Appends the one entry whose name matches to `target`. Throws: when there is none, or more than one. */
export async function unpackZipEntry(archive: string, name: RegExp, target: string): Promise<void> {
  const file = await open(archive);
  try {
    const entries = (await readEntries(file)).filter(entry => name.test(entry.name));
    const [entry] = entries;
    if (entry === undefined || entries.length > 1)
      throw new Error(`${archive} has ${entries.length} files like ${name}; expected one.`);
    const { headerOffset, compressedBytes, isCompressed } = entry;
    const header = await readBytes(file, headerOffset, LOCAL_HEADER_BYTES);
    // The lengths of name and extra fields here differ from those of the directory.
    const start = headerOffset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    await pipeline(
      createReadStream(archive, { start, end: start + compressedBytes - 1 }),
      isCompressed ? createInflateRaw() : new PassThrough(),
      createWriteStream(target, { flags: 'a' }),
    );
  } finally {
    await file.close();
  }
}

async function readEntries(file: FileHandle): Promise<ZipEntry[]> {
  const { size } = await file.stat();
  const tail = await readBytes(file, Math.max(0, size - END_BYTES - LONGEST_COMMENT), size);
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end--;
  if (end < 0) throw new Error('The file is not a ZIP archive.');
  const directory = await readBytes(file, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries: ZipEntry[] = [];
  for (let at = 0; at < directory.length; ) {
    if (directory.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error('The ZIP archive is damaged.');
    const nameLength = directory.readUInt16LE(at + 28);
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameLength),
      isCompressed: directory.readUInt16LE(at + 10) === DEFLATED,
      compressedBytes: directory.readUInt32LE(at + 20),
      headerOffset: directory.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
