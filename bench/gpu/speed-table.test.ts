import { expect, it } from 'vitest';
import { speedTable } from './speed-table.ts';

it('has a column for each number of streams and each length, with shares of what the device can do', () => {
  const rows = [
    {
      engine: 'ours',
      precision: 'q4',
      weightBytes: 1e9,
      decode: [
        { streamCount: 1, tokensPerSecond: 50 },
        { streamCount: 64, tokensPerSecond: 1600 },
      ],
      prefill: [{ tokenCount: 4096, tokensPerSecond: 10_000 }],
    },
    { engine: 'other', precision: 'f16', weightBytes: 4e9, decode: [], prefill: [] },
  ];
  const table = speedTable([{ shape: '2b', parameterCount: 2e9, rows }], {
    bytesPerSecond: 100e9,
    operationsPerSecond: 1e15,
  });
  expect(table).toBe(
    '| shape | engine | weights | decode, 1 stream | decode, 64 streams | prefill, 4,096 |\n' +
      '| --- | --- | --- | --- | --- | --- |\n' +
      '| 2b | ours | q4 | 50 (50 %) | 1,600 (25 %) | 10,000 (4.0 %) |\n' +
      '| 2b | other | f16 |  |  |  |\n',
  );
});
