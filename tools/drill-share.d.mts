export function drillPaths(root: string): string[];
export function shareOf(paths: string[], share: string): string[];
