// A store of usage that stores nothing.

export async function openUsageStore() {
  return {
    databases: [],
    record: async () => undefined,
    list: async () => [],
    close: async () => undefined,
  };
}
