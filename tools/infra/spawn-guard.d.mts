import type { ChildProcess } from 'node:child_process';

export function spawnGuard(kinds?: string[]): { folder: string; guard: ChildProcess };
export function endGuard(guard: ChildProcess): Promise<void>;
