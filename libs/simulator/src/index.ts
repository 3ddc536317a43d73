export { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';
export type { RecordedRequest } from './record.js';
