import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Fleet, FleetUpstreams } from './fleet.js';
import { JAVA_OPTIONS } from './processes.js';

/** The members of a fleet that a comparison needs: older checkouts have at least these. */
export type OtherFleet = Pick<Fleet, 'url' | 'key' | 'edgePid' | 'stop'>;

interface FleetModule {
  startFleet: (upstreams: FleetUpstreams) => Promise<OtherFleet>;
}

/** Places of a checkout's bench once built, the newest first: before 0.2.0 it was in tools/. */
const FLEET_FILES = ['dist/lab/bench/src/fleet.js', 'dist/tools/bench/src/fleet.js'];

/**
 * Starts the fleet of another built checkout by that checkout's own bench, which knows its environment and its tables,
 * on servers of its own.
 */
export async function startBefore(checkout: string, upstreams: FleetUpstreams): Promise<OtherFleet> {
  const places = FLEET_FILES.map((path) => join(resolve(checkout), path));
  const file = places.find((path) => existsSync(path));
  if (file === undefined) throw new Error(`--against ${checkout}: build it first, ${places[0]} is missing`);
  // An older checkout passes on the environment of this process.
  process.env['_JAVA_OPTIONS'] = JAVA_OPTIONS;
  const { startFleet } = (await import(pathToFileURL(file).href)) as FleetModule;
  return await startFleet(upstreams);
}
