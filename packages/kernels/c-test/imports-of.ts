// What a shared library needs of its platform: the libraries that it names and the symbols that it does not define.

const text = (bytes: Buffer, at: number) => bytes.toString('latin1', at, bytes.indexOf(0, at));

export interface LibraryImports {
  readonly libraries: readonly string[];
  readonly symbols: readonly string[];
}

export function importsOf(bytes: Buffer): LibraryImports {
  if (bytes.toString('latin1', 0, 4) === '\x7fELF') return importsOfElf(bytes);
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return importsOfMachO(bytes);
  if (bytes.toString('latin1', 0, 2) === 'MZ') return importsOfPe(bytes);
  throw new Error('This is not a library of 64 bits.');
}

const ELF = { dynamic: 6, dynamicSymbols: 11, needed: 1 };

function importsOfElf(bytes: Buffer): LibraryImports {
  const first = Number(bytes.readBigUInt64LE(0x28));
  const sections = Array.from({ length: bytes.readUInt16LE(0x3c) }, (_, index) => {
    const at = first + index * bytes.readUInt16LE(0x3a);
    const word = (offset: number) => Number(bytes.readBigUInt64LE(at + offset));
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: word(0x18),
      size: word(0x20),
      link: bytes.readUInt32LE(at + 0x28),
    };
  });
  const entries = (type: number, size: number) =>
    sections
      .filter(section => section.type === type)
      .flatMap(({ offset, size: bytesOfAll, link }) =>
        Array.from({ length: bytesOfAll / size }, (_, i) => ({
          at: offset + i * size,
          names: sections[link]!.offset,
        })),
      );
  const libraries = entries(ELF.dynamic, 16)
    .filter(({ at }) => bytes.readBigUInt64LE(at) === BigInt(ELF.needed))
    .map(({ at, names }) => text(bytes, names + Number(bytes.readBigUInt64LE(at + 8))));
  // The first symbol is empty; section 0 is that of undefined ones.
  const symbols = entries(ELF.dynamicSymbols, 24)
    .slice(1)
    .filter(({ at }) => bytes.readUInt16LE(at + 6) === 0)
    .map(({ at, names }) => text(bytes, names + bytes.readUInt32LE(at)));
  return { libraries, symbols };
}

const MACH_O = { symbols: 0x2, loadDylib: 0xc, undefinedType: 0x0, typeMask: 0x0e };

function importsOfMachO(bytes: Buffer): LibraryImports {
  const libraries: string[] = [];
  const symbols: string[] = [];
  let at = 32;
  for (let i = 0; i < bytes.readUInt32LE(16); i++) {
    const command = bytes.readUInt32LE(at);
    if (command === MACH_O.loadDylib) libraries.push(text(bytes, at + bytes.readUInt32LE(at + 8)));
    if (command === MACH_O.symbols) {
      const [first, count, names] = [8, 12, 16].map(offset => bytes.readUInt32LE(at + offset)) as [
        number,
        number,
        number,
      ];
      for (let symbol = first; symbol < first + 16 * count; symbol += 16)
        if ((bytes.readUInt8(symbol + 4) & MACH_O.typeMask) === MACH_O.undefinedType)
          symbols.push(text(bytes, names + bytes.readUInt32LE(symbol)));
    }
    at += bytes.readUInt32LE(at + 4);
  }
  return { libraries, symbols };
}

/** Names of what a Windows library imports are not read: ours has no table of imports, neither early nor delayed. */
function importsOfPe(bytes: Buffer): LibraryImports {
  const directories = bytes.readUInt32LE(0x3c) + 24 + 112;
  const sizeOf = (index: number) => bytes.readUInt32LE(directories + 8 * index + 4);
  const has = (index: number) => index < bytes.readUInt32LE(directories - 4) && sizeOf(index) > 0;
  return { libraries: [1, 13].filter(has).map(index => `table ${index}`), symbols: [] };
}
