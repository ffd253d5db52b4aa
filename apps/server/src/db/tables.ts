// All tables, as Kysely sees them. Each room describes its own in tables/.

import type { ApiKeysTable } from './tables/api-keys.ts';

export interface Tables {
  readonly api_keys: ApiKeysTable;
}
