// The few calls of the REST API that the example makes. Any OpenAI client would do for the chats.

export interface Message {
  readonly role: string;
  readonly content: string;
}

/** A choice as the server returned it; what is logged must be exactly this. */
export interface Choice {
  readonly message: Message;
  readonly finish_reason: string;
  readonly logprobs: { readonly content: readonly { readonly token: string; readonly logprob: number }[] };
}

export interface Answer {
  /** The model that answered: `<model>:step<N>` for a checkpoint. */
  readonly model: string;
  readonly choices: readonly [Choice, ...Choice[]];
  readonly prompt_token_ids: readonly number[];
}

/** One line of the export of trajectories. */
export interface LoggedTrajectory {
  readonly reward: number;
  readonly trajectory: { readonly messages_and_choices: readonly (Message | Choice)[] };
}

export interface RestClient {
  post<Reply>(path: string, body: unknown): Promise<Reply>;
  /** All lines of a JSONL answer. */
  getLines<Line>(path: string): Promise<Line[]>;
}

/** Throws: an error with the server's own words when it refuses. */
export function createRestClient(url: string, apiKey: string): RestClient {
  async function call(path: string, init: RequestInit): Promise<Response> {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const response = await fetch(new URL(path, url), { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }
  return {
    async post<Reply>(path: string, body: unknown) {
      const response = await call(path, { method: 'POST', body: JSON.stringify(body) });
      return (await response.json()) as Reply;
    },
    async getLines<Line>(path: string) {
      const text = await (await call(path, { method: 'GET' })).text();
      return text
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line) as Line);
    },
  };
}
