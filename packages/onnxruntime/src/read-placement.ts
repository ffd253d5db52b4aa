// Operators of a device session that fell back to the CPU: each costs copies and a synchronisation at every run.

import koffi from 'koffi';
import { type Handle, type OrtCApi, receive } from './c-api.ts';

/** Session setting that makes ONNX Runtime remember where each operator runs. */
export const PLACEMENT_SETTING = 'session.record_ep_graph_assignment_info';

const CPU_PROVIDER = 'CPUExecutionProvider';
const DOING = 'Reading where operators run';

/** Operators on the CPU, as `Softmax /lm_head/Softmax`. The session was made with `PLACEMENT_SETTING`. */
export function readCpuOperators(api: OrtCApi, session: Handle): readonly string[] {
  const { functions } = api;
  const text = (call: (out: BigUint64Array) => number | bigint): string =>
    koffi.decode.string(receive(api, 'model_invalid', DOING, call));
  const parts = receiveList(api, (list, count) => functions.sessionGetPlacement(session, list, count));
  return parts
    .filter(part => text(out => functions.placementGetProvider(part, out)) === CPU_PROVIDER)
    .flatMap(part => receiveList(api, (list, count) => functions.placementGetNodes(part, list, count)))
    .map(node => {
      const type = text(out => functions.placedNodeGetType(node, out));
      return `${type} ${text(out => functions.placedNodeGetName(node, out))}`;
    });
}

function receiveList(
  api: OrtCApi,
  call: (list: BigUint64Array, count: BigUint64Array) => number | bigint,
): readonly Handle[] {
  const count = new BigUint64Array(1);
  const list = receive(api, 'model_invalid', DOING, out => call(out, count));
  if (count[0] === 0n) return [];
  return Array.from(koffi.decode(list, 'uintptr_t', Number(count[0])) as Iterable<number | bigint>, value =>
    BigInt(value),
  );
}
