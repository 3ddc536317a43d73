export function unneeded(
  packages: Readonly<Record<string, { devOptional?: boolean; link?: boolean }>>,
  app?: string,
): string[];
