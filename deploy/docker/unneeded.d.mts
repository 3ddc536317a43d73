export function unneeded(packages: Readonly<Record<string, { devOptional?: boolean }>>): string[];
