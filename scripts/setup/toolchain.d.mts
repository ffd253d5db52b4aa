export function hostRefusal(): string | undefined;
export function hasMusl(
  report: { excludeNetwork: boolean; getReport(): { header: object } },
  platform?: string,
): boolean;
