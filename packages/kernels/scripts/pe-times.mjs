// The linker writes the time of its run into the header of a Windows library. Nothing reads it, so it becomes zero.

const HEADER_OFFSET = 0x3c;
/** From the start of the header: "PE\0\0", machine and number of sections stand before it. */
const TIME_OFFSET = 8;

/** Mutates: `bytes`, those of a library for Windows. */
export function clearTime(bytes) {
  const header = bytes.readUInt32LE(HEADER_OFFSET);
  if (bytes.toString('latin1', header, header + 4) !== 'PE\0\0')
    throw new Error('This is not a library for Windows.');
  bytes.writeUInt32LE(0, header + TIME_OFFSET);
}
