// Graph capture of bound calls on WebGPU: ONNX Runtime records the device commands of a run under an id and replays them when
// a run has that id again. Caller: `native-session.ts`.

import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';

/** Run option: the id of the captured graph. */
const RECORDING_SETTING = 'gpu_graph_id';
const NOT_RECORDED = -1;

/** Options of a run. They are not closed while it runs. */
export interface CallOptions {
  readonly handle: Handle;
  close(): void;
}

export class CallRecorder {
  readonly #api: OrtCApi;
  readonly #session: Handle;
  readonly #plain: CallOptions;
  /** Zero is what ONNX Runtime takes for itself. */
  #lastNumber = 0;

  /** For a session that was made to record. */
  constructor(api: OrtCApi, session: Handle) {
    this.#api = api;
    this.#session = session;
    this.#plain = this.#open(NOT_RECORDED);
  }

  /** Options of calls that are computed anew each time. */
  get plain(): Handle {
    return this.#plain.handle;
  }

  /** Options of one call, which is recorded when it is run for the first time. */
  record(): CallOptions {
    const { functions } = this.#api;
    const number = ++this.#lastNumber;
    const options = this.#open(number);
    return {
      handle: options.handle,
      close: () => {
        options.close();
        const status = functions.sessionReleaseCapturedGraph(this.#session, number);
        checkStatus(functions, status, 'runtime_failed', 'Forgetting a recorded call');
      },
    };
  }

  dispose(): void {
    this.#plain.close();
  }

  #open(number: number): CallOptions {
    const { functions } = this.#api;
    const doing = 'Setting the options of a call';
    const handle = receive(this.#api, 'runtime_failed', doing, out => functions.createRunOptions(out));
    const status = functions.addRunConfigEntry(handle, RECORDING_SETTING, String(number));
    checkStatus(functions, status, 'runtime_failed', doing);
    return { handle, close: () => functions.releaseRunOptions(handle) };
  }
}
