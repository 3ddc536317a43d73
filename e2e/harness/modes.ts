import { startAllInOne } from './all-in-one.js';
import { startFleet } from './fleet.js';
import type { Gateway } from './gateway.js';

/** One way to run, by its name; `env` reaches the process that answers inference. */
export type Mode = [name: string, start: (env?: Record<string, string>) => Promise<Gateway>];

/** The two ways to run a gateway: suites run over both. */
export const MODES: Mode[] = [
  ['all in one', (env = {}) => startAllInOne({ env })],
  ['the fleet', (env = {}) => startFleet({ env: { edge: env } })],
];

/** Two cores that start everything at once. */
export const START_MS = 900_000;
